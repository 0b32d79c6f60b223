import { expect, it } from "vitest";

import { safeStorage } from "../../src/lib/storage.js";

it("lasts as long as the page where the browser refuses to keep anything", () => {
  const storage = safeStorage(() => {
    throw new DOMException("denied", "SecurityError");
  });
  storage.set("a", "1");
  expect(storage.get("a")).toBe("1");
  storage.set("a", null);
  expect(storage.get("a")).toBeNull();
});

it("uses the browser's storage where it can", () => {
  const values = new Map<string, string>();
  const real = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  } as Storage;
  const storage = safeStorage(() => real);
  storage.set("a", "1");
  expect(values.get("a")).toBe("1");
  storage.set("a", null);
  expect(storage.get("a")).toBeNull();
});
