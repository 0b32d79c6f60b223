import { expect, it } from "vitest";

import { highlighter, isTooLong, readyHighlighter } from "../../src/code/highlight.js";
import { languageOf } from "../../src/code/languages.js";

it("knows languages by the names that models give them", () => {
  expect(["py", "TS", "c++", "toml", "console", "python"].map(languageOf)).toEqual(["python", "typescript", "cpp", "ini", "bash", "python"]);
  expect(["", "klingon", "constructor", "__proto__"].map(languageOf)).toEqual([null, null, null, null]);
});

it("colours by classes and escapes what it is given", async () => {
  expect(readyHighlighter("python")).toBeNull();
  const highlight = await highlighter("python");
  const coloured = highlight?.('if x < 1:\n    print("<script>")') ?? "";
  expect(coloured).toContain('<span class="hljs-keyword">if</span>');
  expect(coloured).not.toContain("<script>");
  expect(coloured).not.toContain("style=");
  expect(readyHighlighter("python")).toBe(highlight);
  expect(await highlighter("klingon")).toBeNull();
});

it("leaves very long code without colours", () => {
  expect(isTooLong("x = 1\n".repeat(5_000))).toBe(false);
  expect(isTooLong("x = 1\n".repeat(10_000))).toBe(true);
  expect(isTooLong("x".repeat(6_000))).toBe(true);
});
