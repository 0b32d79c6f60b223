import type { LanguageFn } from "highlight.js";

type Load = () => Promise<{ readonly default: LanguageFn }>;

/** Each language is fetched when it is first seen. */
const LANGUAGES: Readonly<Record<string, Load>> = {
  bash: () => import("highlight.js/lib/languages/bash"),
  c: () => import("highlight.js/lib/languages/c"),
  cpp: () => import("highlight.js/lib/languages/cpp"),
  csharp: () => import("highlight.js/lib/languages/csharp"),
  css: () => import("highlight.js/lib/languages/css"),
  diff: () => import("highlight.js/lib/languages/diff"),
  dockerfile: () => import("highlight.js/lib/languages/dockerfile"),
  go: () => import("highlight.js/lib/languages/go"),
  ini: () => import("highlight.js/lib/languages/ini"),
  java: () => import("highlight.js/lib/languages/java"),
  javascript: () => import("highlight.js/lib/languages/javascript"),
  json: () => import("highlight.js/lib/languages/json"),
  kotlin: () => import("highlight.js/lib/languages/kotlin"),
  lua: () => import("highlight.js/lib/languages/lua"),
  makefile: () => import("highlight.js/lib/languages/makefile"),
  php: () => import("highlight.js/lib/languages/php"),
  powershell: () => import("highlight.js/lib/languages/powershell"),
  python: () => import("highlight.js/lib/languages/python"),
  ruby: () => import("highlight.js/lib/languages/ruby"),
  rust: () => import("highlight.js/lib/languages/rust"),
  sql: () => import("highlight.js/lib/languages/sql"),
  swift: () => import("highlight.js/lib/languages/swift"),
  typescript: () => import("highlight.js/lib/languages/typescript"),
  xml: () => import("highlight.js/lib/languages/xml"),
  yaml: () => import("highlight.js/lib/languages/yaml"),
};

const ALIASES: Readonly<Record<string, string>> = {
  "c#": "csharp", "c++": "cpp", cc: "cpp", console: "bash", cs: "csharp", docker: "dockerfile", golang: "go",
  h: "c", hpp: "cpp", html: "xml", js: "javascript", jsonc: "json", jsx: "javascript", kt: "kotlin", make: "makefile",
  mjs: "javascript", patch: "diff", ps1: "powershell", py: "python", rb: "ruby", rs: "rust", scss: "css", sh: "bash",
  shell: "bash", svg: "xml", toml: "ini", ts: "typescript", tsx: "typescript", vue: "xml", yml: "yaml", zsh: "bash",
};

/** The language that a block of code names, as we know it; null for one that stays plain. */
export function languageOf(named: string): string | null {
  const name = named.toLowerCase();
  const known = Object.hasOwn(ALIASES, name) ? ALIASES[name] : name;
  return known !== undefined && Object.hasOwn(LANGUAGES, known) ? known : null;
}

export const load = async (language: string): Promise<LanguageFn | null> => (await LANGUAGES[language]?.())?.default ?? null;
