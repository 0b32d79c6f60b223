import { describe, expect, it } from "vitest";

import { settled, share, steps, withFrame, type Activity, type ActivityFrame } from "../../src/chat/activity.js";
import { doing, takesScreenshot, toolName } from "../../src/ui/tool-names.js";
import { en } from "../../src/i18n/en.js";
import { zh } from "../../src/i18n/zh.js";

const start = (step: number, call_id: string, name = "tool__web_search"): ActivityFrame => ({
  type: "tool.start", turn: 1, step, call_id, name,
});
const end = (step: number, call_id: string, known: object = {}): ActivityFrame => ({
  type: "tool.end", turn: 1, step, call_id, name: "tool__web_search", outcome: "ok", ms: 1200, ...known,
});
const after = (...frames: ActivityFrame[]) => frames.reduce<Activity | null>(withFrame, null);
const calls = (...frames: ActivityFrame[]) => after(...frames)?.calls ?? [];

describe("a call", () => {
  it("runs, comes along, and ends with its time", () => {
    const progress: ActivityFrame = { type: "tool.progress", turn: 1, call_id: "a", done: 1, total: 4, note: "page 1" };
    expect(calls(start(1, "a"))).toMatchObject([{ outcome: "running", ms: null }]);
    expect(calls(start(1, "a"), progress)).toMatchObject([{ progress: { done: 1, total: 4, note: "page 1" } }]);
    expect(calls(start(1, "a"), progress, end(1, "a"))).toMatchObject([{ outcome: "ok", ms: 1200, progress: null }]);
  });

  it("says in a few words why it gave nothing", () => {
    expect(calls(start(1, "a"), end(1, "a", { outcome: "timeout", error: "no answer in 20 s" }))).toMatchObject([
      { outcome: "timeout", error: "no answer in 20 s" },
    ]);
  });

  it("brings the picture that it took", () => {
    const [call] = calls(start(1, "a"), end(1, "a", { thumbnail: { mime: "image/jpeg", data: "AAAA" } }));
    expect(call?.picture).toBe("data:image/jpeg;base64,AAAA");
  });

  it("of a later step may bear the id of an earlier one", () => {
    expect(calls(start(1, "a"), end(1, "a"), start(2, "a")).map(({ step, outcome }) => [step, outcome])).toEqual([
      [1, "ok"],
      [2, "running"],
    ]);
  });

  it("whose start was missed is shown all the same", () => {
    expect(calls(end(1, "a", { outcome: "deferred" }))).toMatchObject([{ outcome: "deferred" }]);
  });

  it("that nobody knows has no progress", () => {
    expect(calls(start(1, "a"), { type: "tool.progress", turn: 1, call_id: "b", done: 1 })).toMatchObject([{ progress: null }]);
  });
});

it("groups the calls of a step, in order", () => {
  const grouped = steps(calls(start(1, "a"), start(1, "b"), start(2, "c"), end(1, "b")));
  expect(grouped.map((together) => together.map(({ id }) => id))).toEqual([["a", "b"], ["c"]]);
});

it("counts the pictures that the vision model described", () => {
  expect(after({ type: "vision", turn: 1, images: 2, outcome: "ok", ms: 900 })?.sights).toEqual([
    { images: 2, outcome: "ok", ms: 900 },
  ]);
});

describe("the end of a turn", () => {
  it("ends what still ran", () => {
    expect(settled(after(start(1, "a"), start(1, "b"), end(1, "b")))?.calls.map(({ outcome }) => outcome)).toEqual(["cancelled", "ok"]);
  });

  it("takes the server's measure of time", () => {
    expect(settled(after(start(1, "a"), end(1, "a")), 2400)?.ms).toBe(2400);
  });

  it("else adds up the longest calls, since those of a step ran side by side", () => {
    const activity = after(end(1, "a", { ms: 100 }), end(1, "b", { ms: 300 }), end(2, "c", { ms: 50 }));
    expect(settled(activity)?.ms).toBe(350);
  });

  it("has nothing to end where nothing was done", () => {
    expect(settled(null)).toBeNull();
  });
});

it("knows the share that is done only where it makes sense", () => {
  expect(share({ done: 1, total: 4, note: null })).toBe(0.25);
  expect(share({ done: 9, total: 4, note: null })).toBe(1);
  expect(share({ done: 1, total: 0, note: null })).toBeNull();
  expect(share({ done: 1, total: null, note: null })).toBeNull();
});

describe("a tool's name", () => {
  it("is readable for the tools that we know, in both languages", () => {
    expect(toolName("vision__screen_shot", en)).toBe("screenshot");
    expect(toolName("vision__screen_shot", zh)).toBe("截屏");
  });

  it("is what can be read in the raw name of others", () => {
    expect(toolName("git__git_log", en)).toBe("git log (git)");
    expect(toolName("fs__a__b", en)).toBe("a b (fs)");
    expect(toolName("plain", en)).toBe("plain");
    expect(toolName("constructor", en)).toBe("constructor");
    expect(toolName("__", en)).toBe("__");
  });

  it("tells a new screenshot from a closer look at an old one", () => {
    expect(takesScreenshot("vision__screen_shot")).toBe(true);
    expect(takesScreenshot("vision__look_closer")).toBe(false);
  });

  it("tells what goes on at this moment", () => {
    expect(doing(calls(start(1, "a"), start(1, "b", "vision__screen_shot"), end(1, "a")))).toBe("screen");
    expect(doing(calls(start(1, "a"), start(1, "b", "git__git_log")))).toBe("other");
    expect(doing([])).toBe("other");
  });
});
