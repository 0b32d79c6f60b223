import { expect, it } from "vitest";

import { isComposing, sends, type KeyPress } from "../../src/ui/composer-keys.js";

const NEVER = Number.NEGATIVE_INFINITY;
const enter: KeyPress = {
  key: "Enter",
  keyCode: 13,
  isComposing: false,
  shiftKey: false,
  ctrlKey: false,
  altKey: false,
  metaKey: false,
  timeStamp: 1_000,
};

it("sends with Enter, and with Ctrl or Command and Enter", () => {
  expect(sends(enter, NEVER)).toBe(true);
  expect(sends({ ...enter, ctrlKey: true }, NEVER)).toBe(true);
  expect(sends({ ...enter, metaKey: true }, NEVER)).toBe(true);
});

it("breaks the line with Shift + Enter or Alt + Enter", () => {
  expect(sends({ ...enter, shiftKey: true }, NEVER)).toBe(false);
  expect(sends({ ...enter, altKey: true }, NEVER)).toBe(false);
});

it("sends with no other key", () => {
  expect(sends({ ...enter, key: "a", keyCode: 65 }, NEVER)).toBe(false);
});

it("never sends while an input method is composing", () => {
  expect(sends({ ...enter, isComposing: true }, NEVER)).toBe(false);
  expect(sends({ ...enter, keyCode: 229 }, NEVER)).toBe(false);
});

it("never sends with the Enter that ended a composition in Safari, which reports the end first", () => {
  expect(sends(enter, enter.timeStamp - 1)).toBe(false);
});

it("sends with an Enter that is pressed after the word was chosen", () => {
  expect(sends(enter, enter.timeStamp - 120)).toBe(true);
});

it("leaves Escape to the input method too", () => {
  expect(isComposing({ ...enter, key: "Escape", keyCode: 229 }, NEVER)).toBe(true);
});
