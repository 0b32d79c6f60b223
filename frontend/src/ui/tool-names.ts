import type { Call } from "../chat/activity.js";
import type { Catalogue } from "../i18n/index.js";

const SEPARATOR = "__";

/** A tool's name for people: its own where the catalogue has one, else what is legible in the raw name. */
export function toolName(name: string, words: Catalogue): string {
  const known: Readonly<Record<string, string>> = words.tools;
  if (Object.hasOwn(known, name)) return known[name] ?? name;
  const [server, ...rest] = name.split(SEPARATOR);
  const tool = rest.join(SEPARATOR);
  return tool === "" ? legible(name) : `${legible(tool)} (${server})`;
}

/** What the calls that run are about; what all of them were about where none runs. */
export function doing(calls: readonly Call[]): keyof Catalogue["activity"]["doing"] {
  const running = calls.filter(({ outcome }) => outcome === "running");
  const kinds = new Set((running.length > 0 ? running : calls).map(({ name }) => kind(name)));
  const [only = "other"] = kinds;
  return kinds.size === 1 ? only : "other";
}

/** Whether a tool takes a screenshot, and doesn't only look closer at one. */
export const takesScreenshot = (name: string): boolean => /screen_?shot/i.test(name);

function kind(name: string): keyof Catalogue["activity"]["doing"] {
  if (name.startsWith("vision__")) return "screen";
  if (/^tool__web_/.test(name)) return "web";
  return /^tool__read_/.test(name) ? "file" : "other";
}

const legible = (name: string) => name.replaceAll(/[_-]+/g, " ").trim() || name;
