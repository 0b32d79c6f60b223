import { expect, it } from "vitest";

import { meansText } from "../../src/pictures/paste.js";

it("takes the cells of a spreadsheet as text, and files and pictures as pictures", () => {
  expect(meansText(["text/plain", "text/html", "text/rtf", "Files"])).toBe(true);
  expect(meansText(["text/plain", "Files"])).toBe(false);
  expect(meansText(["text/html", "Files"])).toBe(false);
  expect(meansText(["Files"])).toBe(false);
});
