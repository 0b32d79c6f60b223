import { beforeEach, describe, expect, it } from "vitest";

import { budget, scaled } from "../../src/pictures/measure.js";
import type { Picture } from "../../src/pictures/picture.js";
import { PictureTray, Unfit } from "../../src/pictures/tray.js";
import type { Limits } from "../../src/protocol/index.js";

const LIMITS: Limits = { max_frame_bytes: 8_388_608, max_text_chars: 8000, max_images: 4, max_image_bytes: 5_000, turns_per_minute: 12 };

const picture = (name: string, bytes = 1_000): Picture => ({ name, mime: "image/jpeg", data: "AAAA", bytes, width: 1, height: 1 });
const file = (name: string) => new File([], name);
const read = (from: File): Promise<Picture> => {
  if (from.name.endsWith(".heic")) return Promise.reject(new Unfit("unreadable"));
  if (from.name.startsWith("huge")) return Promise.reject(new Unfit("huge"));
  return Promise.resolve(picture(from.name, from.name.startsWith("heavy") ? 4_500 : 1_000));
};

let tray: PictureTray;

beforeEach(() => {
  tray = new PictureTray(read, () => LIMITS);
});

const names = () => tray.content.value.pictures.map(({ name }) => name);
const complaints = () => tray.content.value.complaints;

describe("the tray", () => {
  it("takes pictures in their order", async () => {
    await tray.add([file("a.png"), file("b.jpg")]);
    expect(names()).toEqual(["a.png", "b.jpg"]);
    expect(tray.content.value.reading).toBe(0);
  });

  it("says how many are still being prepared", async () => {
    const adding = tray.add([file("a.png"), file("b.jpg")]);
    expect(tray.content.value.reading).toBe(2);
    await adding;
  });

  it("names what it can't read and keeps the rest", async () => {
    await tray.add([file("a.heic"), file("huge.png"), file("b.jpg")]);
    expect(names()).toEqual(["b.jpg"]);
    expect(complaints()).toEqual([
      { kind: "unreadable", name: "a.heic" },
      { kind: "huge", name: "huge.png" },
    ]);
  });

  it("takes no more than a message may have, however many are dropped at once", async () => {
    await Promise.all([
      tray.add([file("a.png")]),
      tray.add(Array.from({ length: 50 }, (_, number) => file(`${number}.png`))),
    ]);
    expect(names()).toHaveLength(4);
    expect(complaints()).toContainEqual({ kind: "many", most: 4, left: 47 });
  });

  it("takes no more bytes than a message may have", async () => {
    await tray.add([file("heavy.png"), file("b.png")]);
    expect(names()).toEqual(["heavy.png"]);
    expect(complaints()).toEqual([{ kind: "heavy", name: "b.png" }]);
  });

  it("gives one back, and forgets what it complained about", async () => {
    await tray.add([file("a.png"), file("b.heic")]);
    const [first] = tray.content.value.pictures;
    if (first) tray.remove(first);
    expect(tray.content.value).toEqual({ pictures: [], reading: 0, complaints: [] });
  });

  it("takes pictures back that were sent before, each once and as far as there is room", async () => {
    await tray.add([file("a.png"), file("b.png"), file("c.png")]);
    const sent = tray.empty();
    await tray.add([file("d.png"), file("e.png")]);
    tray.put(sent);
    tray.put(sent);
    expect(names()).toEqual(["d.png", "e.png", "a.png", "b.png"]);
  });

  it("gives all away at once, and what was still being read comes too late", async () => {
    const adding = tray.add([file("a.png"), file("b.png")]);
    tray.empty();
    await adding;
    expect(names()).toEqual([]);
  });
});

it("scales to the longest side and never up", () => {
  expect(scaled({ width: 3136, height: 1000 })).toEqual({ width: 1568, height: 500 });
  expect(scaled({ width: 800, height: 600 })).toEqual({ width: 800, height: 600 });
  expect(scaled({ width: 20_000, height: 1 })).toEqual({ width: 1568, height: 1 });
});

it("leaves room for base64 and the text in a frame", () => {
  expect(budget(LIMITS)).toBe(5_000);
  expect((budget({ ...LIMITS, max_image_bytes: 6_000_000, max_frame_bytes: 1_000_000 }) * 4) / 3).toBeLessThan(1_000_000);
  expect(budget({ ...LIMITS, max_frame_bytes: 1 })).toBe(0);
});
