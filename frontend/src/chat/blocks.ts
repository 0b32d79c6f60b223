import MarkdownIt from "markdown-it";

import { steady } from "./steady.js";

/** A paragraph beyond this shows as it is written: looking for emphasis in it anew for every paint takes too long. */
const LONGEST_INLINE = 20_000;

export const SAFE_LINK = /^(https?:|mailto:)/i;

const parser = new MarkdownIt({ html: false, linkify: true, breaks: true });
// "README.md" is a file, not a site in Moldova; only addresses that say what they are become links.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
// A remote picture would tell its host that somebody reads this.
parser.disable("image");
parser.validateLink = (url) => SAFE_LINK.test(url);
parser.core.ruler.after("block", "long_text", ({ tokens }) => {
  for (const token of tokens) {
    if (token.type === "inline" && token.content.length > LONGEST_INLINE) token.type = "text";
  }
});

/**
 * The blocks of one reply (paragraphs, lists, tables, code), each as HTML that holds nothing of the reply's own.
 * A reply that grows is read on from its last block, so that the length of what stands above doesn't matter.
 */
export class BlockReader {
  #text = "";
  /** The blocks above the last one, which nothing that comes can change. */
  #settled: readonly string[] = [];
  /** Where the last block begins in the text. */
  #lastAt = 0;

  /** `live`: more will come. */
  read(text: string, live: boolean): readonly string[] {
    const grows = live && text.startsWith(this.#text);
    const from = grows ? this.#lastAt : 0;
    const rest = text.slice(from);
    const { blocks, lastLine } = parsed(live ? steady(rest) : rest);
    const all = grows ? [...this.#settled, ...blocks] : blocks;
    this.#text = text;
    this.#lastAt = from + offsetOf(rest, lastLine);
    this.#settled = blocks.length > 0 ? all.slice(0, -1) : all;
    return all;
  }
}

function parsed(text: string): { readonly blocks: string[]; readonly lastLine: number } {
  const env = {};
  const tokens = parser.parse(text, env);
  const blocks: string[] = [];
  let lastLine = 0;
  for (let start = 0, end = 0; end < tokens.length; end++) {
    if (tokens[end]?.level !== 0 || tokens[end]?.nesting === 1) continue;
    blocks.push(parser.renderer.render(tokens.slice(start, end + 1), parser.options, env));
    lastLine = tokens[start]?.map?.[0] ?? lastLine;
    start = end + 1;
  }
  return { blocks, lastLine };
}

function offsetOf(text: string, line: number): number {
  let offset = 0;
  for (let passed = 0; passed < line; passed++) offset = text.indexOf("\n", offset) + 1;
  return offset;
}
