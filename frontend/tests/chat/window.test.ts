import { describe, expect, it } from "vitest";

import { MOST, STEP, carried, earlier, later, newest } from "../../src/chat/window.js";

const keys = (first: number, count: number) => Array.from({ length: count }, (_, index) => `k${first + index}`);

describe("what of a long chat is in the document", () => {
  it("is the newest, at most so many", () => {
    expect(newest(10)).toEqual({ from: 0, to: 10 });
    expect(newest(10_000)).toEqual({ from: 10_000 - MOST, to: 10_000 });
  });

  it("moves up and down to the ends and is never more", () => {
    let span = newest(10_000);
    for (let moves = 0; moves < 600; moves++) {
      span = earlier(span);
      expect(span.to - span.from).toBeLessThanOrEqual(MOST);
    }
    expect(span).toEqual({ from: 0, to: MOST });
    expect(earlier(span)).toEqual(span);
    expect(later(span, 10_000)).toEqual({ from: STEP, to: MOST + STEP });
    for (let moves = 0; moves < 600; moves++) span = later(span, 10_000);
    expect(span).toEqual(newest(10_000));
  });

  it("stays with its entries when older ones are put above", () => {
    const span = { from: 0, to: MOST };
    expect(carried(span, keys(200, 200), keys(0, 400))).toEqual({ from: 200, to: 200 + MOST });
  });

  it("takes what is added below while there is room", () => {
    expect(carried({ from: 0, to: 10 }, keys(0, 10), keys(0, 11))).toEqual({ from: 0, to: 11 });
    expect(carried({ from: 5, to: 5 + MOST }, keys(0, 5 + MOST), keys(0, 6 + MOST))).toEqual({ from: 5, to: 5 + MOST });
    expect(carried({ from: 0, to: 10 }, keys(0, 50), keys(0, 51))).toEqual({ from: 0, to: 10 });
  });

  it("bears that entries go away, some of them or all", () => {
    expect(carried({ from: 2, to: 10 }, keys(0, 10), keys(4, 6))).toEqual({ from: 0, to: 6 });
    expect(carried({ from: 2, to: 10 }, keys(0, 10), keys(50, 3))).toEqual({ from: 0, to: 3 });
    expect(carried({ from: 0, to: 0 }, [], keys(0, 500))).toEqual(newest(500));
  });
});
