import { expect, it } from "vitest";

import { count, moment, percent, seconds } from "../../src/i18n/format.js";

it("writes times and numbers as each language does", () => {
  expect(seconds(1234, "en")).toBe("1.2s");
  expect(seconds(12_345, "en")).toBe("12s");
  expect(seconds(1234, "zh-CN")).toBe("1.2秒");
  expect(count(12_345, "en")).toBe("12,345");
  expect(percent(0.25, "en")).toBe("25%");
});

it("shows the day only where it isn't today", () => {
  const now = new Date(2026, 4, 6, 15, 0);
  const today = moment(new Date(2026, 4, 6, 9, 5).toISOString(), "en", now);
  expect(today).toContain("9:05");
  expect(today).not.toContain("2026");
  expect(moment(new Date(2026, 4, 5, 9, 5).toISOString(), "en", now)).toContain("2026");
  expect(moment("yesterday", "en", now)).toBe("");
});
