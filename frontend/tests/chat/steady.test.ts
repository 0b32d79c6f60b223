import { describe, expect, it } from "vitest";

import { steady } from "../../src/chat/steady.js";

describe("a reply that is still being written", () => {
  it.each([
    ["plain words", "plain words"],
    ["some `cod", "some `cod`"],
    ["some `", "some"],
    ["some ``a`b`", "some ``a`b``"],
    ["**bo", "**bo**"],
    ["**bold ", "**bold**"],
    ["**bold*", "**bold**"],
    ["**bold**", "**bold**"],
    ["**bold** and *it", "**bold** and *it*"],
    ["***both", "***both***"],
    ["**bold *and", "**bold *and***"],
    ["so **", "so"],
    ["~~go", "~~go~~"],
    ["2 * 3 = 6", "2 * 3 = 6"],
    ["snake_case_name", "snake_case_name"],
    ["a \\*literal", "a \\*literal"],
    ["see [the page](https://exam", "see the page"],
    ["see [the page](https://example.org)", "see [the page](https://example.org)"],
    ["`closed` and **`code` in", "`closed` and **`code` in**"],
  ])("shows %j as %j", (text, shown) => {
    expect(steady(text)).toBe(shown);
  });

  it.each(["-", "--", "***", "1.", "##", "``", "> ", "=="])("waits with %j on a line of its own", (mark) => {
    expect(steady(`Before\n${mark}`)).toBe("Before");
  });

  it("takes a fence for code from its first line on, and its end for no code", () => {
    expect(steady("Look:\n```py")).toBe("Look:\n```");
    expect(steady("```python\nx = 1")).toBe("```python\nx = 1");
    expect(steady("```python\nx = `a` **b")).toBe("```python\nx = `a` **b");
    expect(steady("```python\nx = 1\n``")).toBe("```python\nx = 1");
    expect(steady("````\n```\n")).toBe("````\n```\n");
    expect(steady("```\nx\n```\n**af")).toBe("```\nx\n```\n**af**");
    expect(steady("- a\n  ```js\n  let **x")).toBe("- a\n  ```js\n  let **x");
  });

  it("shows a table when it is one", () => {
    expect(steady("So:\n\n| a | b |")).toBe("So:\n");
    expect(steady("So:\n\n| a | b |\n|--")).toBe("So:\n");
    expect(steady("So:\n\n| a | b |\n|---|---|")).toBe("So:\n\n| a | b |\n|---|---|");
  });

  it("looks no further back than the paragraph that is being written", () => {
    expect(steady("an open `tick\n\nand **more")).toBe("an open `tick\n\nand **more**");
    expect(steady("- an open **star\n- and `more")).toBe("- an open **star\n- and `more`");
  });
});
