import { expect, it } from "vitest";

import { en } from "../../src/i18n/en.js";
import { Language, preferredLocale } from "../../src/i18n/index.js";
import { zh } from "../../src/i18n/zh.js";
import { safeStorage } from "../../src/lib/storage.js";

const refused = () =>
  safeStorage(() => {
    throw new DOMException("denied", "SecurityError");
  });

it("takes the first language of the browser that it has", () => {
  expect(preferredLocale(["fr-FR", "zh-TW", "en"])).toBe("zh-CN");
  expect(preferredLocale(["de", "en-GB"])).toBe("en");
  expect(preferredLocale(["fr"])).toBe("en");
  expect(preferredLocale([])).toBe("en");
});

it("remembers the person's choice over the browser's", () => {
  const storage = refused();
  const language = new Language(storage, ["en"]);
  language.toggle();
  expect(language.words).toBe(zh);
  expect(new Language(storage, ["en"]).locale.value).toBe("zh-CN");
});

it("ignores a stored language that it does not have", () => {
  const storage = refused();
  storage.set("pet.locale", "tlh");
  expect(new Language(storage, ["zh"]).locale.value).toBe("zh-CN");
});

function sentences(catalogue: object, path = ""): [string, unknown][] {
  return Object.entries(catalogue).flatMap(([key, value]): [string, unknown][] =>
    typeof value === "object" && value !== null ? sentences(value, `${path}${key}.`) : [[path + key, value]],
  );
}

it("has something to say in both languages, step by step", () => {
  expect(sentences(zh).map(([key]) => key)).toEqual(sentences(en).map(([key]) => key));
  for (const [key, words] of [...sentences(en), ...sentences(zh)]) {
    const text: unknown = typeof words === "function" ? words(2) : words;
    expect(text, key).toMatch(/\S/);
    expect(`${String(text)}`.split("`").length % 2, `${key} has an unclosed backtick`).toBe(1);
  }
});

it("leaves no English sentence in the Chinese catalogue", () => {
  const same = sentences(en).filter(([key, words]) => typeof words === "string" && sentences(zh).some(([k, w]) => k === key && w === words));
  expect(same.map(([key]) => key)).toEqual(["name", "guide.tabs.ollama", "guide.tabs.lmstudio"]);
});
