import { expect, it } from "vitest";

import { Painter } from "../../src/chat/painter.js";
import { FakeClock } from "../fakes/clock.js";

function painted() {
  const clock = new FakeClock();
  let text = "";
  const seen: string[] = [];
  const painter = new Painter(clock, () => seen.push(text));
  const write = (more: string) => {
    text += more;
    painter.request();
  };
  return { clock, painter, seen, write };
}

it("paints the first change at once", () => {
  const { seen, write } = painted();
  write("a");
  expect(seen).toEqual(["a"]);
});

it("paints at most every 50 ms, and loses nothing", () => {
  const { clock, seen, write } = painted();
  for (let delta = 0; delta < 100; delta++) {
    write("x");
    clock.advance(10);
  }
  clock.advance(50);
  expect(seen.length).toBeLessThanOrEqual(22);
  expect(seen.at(-1)).toBe("x".repeat(100));
});

it("paints at once when it has to", () => {
  const { clock, painter, seen, write } = painted();
  write("a");
  write("b");
  painter.flush();
  clock.advance(100);
  expect(seen).toEqual(["a", "ab"]);
});
