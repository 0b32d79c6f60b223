import { describe, expect, it } from "vitest";

import { BlockReader } from "../../src/chat/blocks.js";

const REPLY = [
  "# Title", "", "A *paragraph* with `code` and [a link](https://example.org),", "over two lines.", "", "- one", "- two", "  ```js",
  "  let a = 1;", "  ```", "", "1. first", "2. second", "", "```python", "def f():", "    return 1", "```", "", "| a | b |",
  "|---|---|", "| 1 | 2 |", "", "> quoted", "> twice", "", "---", "", "The **end**.",
].join("\n");

const whole = (text: string) => new BlockReader().read(text, false);

describe("the blocks of a reply", () => {
  it("are what the whole reply makes, wherever it is cut into deltas", () => {
    for (const step of [1, 3, 7, 40]) {
      const reader = new BlockReader();
      for (let end = 0; end <= REPLY.length; end += step) reader.read(REPLY.slice(0, end), true);
      expect(reader.read(REPLY, false)).toEqual(whole(REPLY));
      const live = new BlockReader();
      for (let end = step; end < REPLY.length; end += step) live.read(REPLY.slice(0, end), true);
      expect(live.read(REPLY, true)).toEqual(whole(REPLY));
    }
  });

  it("never turn from text into code or back while they grow", () => {
    const reader = new BlockReader();
    const kinds = new Map<number, string>();
    for (let end = 1; end <= REPLY.length; end++) {
      reader.read(REPLY.slice(0, end), true).forEach((block, index) => {
        const kind = /^<(\w+)/.exec(block)?.[1] ?? "";
        expect(kinds.get(index) ?? kind, `block ${index} at ${end}`).toBe(kind);
        kinds.set(index, kind);
      });
    }
  });

  it("are read anew when a reply changes instead of growing", () => {
    const reader = new BlockReader();
    reader.read("One\n\nTwo", true);
    expect(reader.read("Three", true)).toEqual(whole("Three"));
  });

  it("hold nothing that a reply wrote as HTML, and no pictures", () => {
    const html = whole("<img src=x onerror=alert(1)> ![p](http://e.org/p.png) [a](javascript:alert(1))").join("");
    expect(html).not.toMatch(/<img|href="javascript/);
  });

  it("take very long lines and wide tables", () => {
    const line = "**x** ".repeat(20_000);
    expect(whole(line)).toEqual([expect.stringContaining("**x** **x**")]);
    const code = whole(`\`\`\`\n${"x".repeat(100_000)}\n\`\`\``);
    expect(code).toEqual([expect.stringMatching(/^<pre>/)]);
    const row = `|${" c |".repeat(200)}`;
    const [table] = whole(`${row}\n|${"---|".repeat(200)}\n${row}`);
    expect(table?.match(/<td>/g)).toHaveLength(200);
  });
});
