import type { HLJSApi } from "highlight.js";

import { load } from "./languages.js";

/** Beyond these the colours would cost more than they are worth. */
const LONGEST = 50_000;
const LONGEST_LINE = 5_000;

export const isTooLong = (code: string): boolean =>
  code.length > LONGEST || (code.length > LONGEST_LINE && code.split("\n").some((line) => line.length > LONGEST_LINE));

/** Code as HTML of escaped text in `<span class="hljs-…">`. */
export type Highlighter = (code: string) => string;

let library: Promise<HLJSApi> | null = null;
const highlighters = new Map<string, Promise<Highlighter | null>>();
const ready = new Map<string, Highlighter>();

/** The highlighter of a language that was fetched before. */
export const readyHighlighter = (language: string): Highlighter | null => ready.get(language) ?? null;

/** Fetches what a language needs, once; null where that fails: code is readable without colours. */
export function highlighter(language: string): Promise<Highlighter | null> {
  const known = highlighters.get(language);
  if (known) return known;
  const fetched = prepare(language).catch(() => {
    highlighters.delete(language);
    return null;
  });
  highlighters.set(language, fetched);
  return fetched;
}

async function prepare(language: string): Promise<Highlighter | null> {
  library ??= import("highlight.js/lib/core").then((module) => module.default);
  const [hljs, definition] = await Promise.all([library, load(language)]).catch((error: unknown) => {
    library = null;
    throw error;
  });
  if (!definition) return null;
  hljs.registerLanguage(language, definition);
  const highlight: Highlighter = (code) => hljs.highlight(code, { language, ignoreIllegals: true }).value;
  ready.set(language, highlight);
  return highlight;
}
