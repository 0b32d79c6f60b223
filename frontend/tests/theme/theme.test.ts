import { expect, it } from "vitest";

import beforePaint from "../../public/theme.js?raw";
import { safeStorage } from "../../src/lib/storage.js";
import { THEME_KEY, Theme } from "../../src/theme/theme.js";

const refused = () =>
  safeStorage(() => {
    throw new DOMException("denied", "SecurityError");
  });

it("is the system's until somebody chooses, and keeps the choice", () => {
  const storage = refused();
  const theme = new Theme(storage);
  const seen = [theme.choice.value];
  for (let turns = 0; turns < 3; turns++) {
    theme.next();
    seen.push(theme.choice.value);
    expect(new Theme(storage).choice.value).toBe(theme.choice.value);
  }
  expect(seen).toEqual(["system", "light", "dark", "system"]);
  expect(storage.get(THEME_KEY)).toBeNull();
});

it("takes what another tab chose, and ignores what it does not know", () => {
  const storage = refused();
  const theme = new Theme(storage);
  storage.set(THEME_KEY, "dark");
  theme.reread();
  expect(theme.choice.value).toBe("dark");
  storage.set(THEME_KEY, "sepia");
  theme.reread();
  expect(theme.choice.value).toBe("system");
});

it("is read under the same name before the first paint", () => {
  expect(beforePaint).toContain(`"${THEME_KEY}"`);
});
