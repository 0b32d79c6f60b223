import { COMMANDS, type Command } from "./commands.js";

/** What is offered while a command is typed. */
export interface Palette {
  readonly commands: readonly Command[];
  /** The one that Enter runs; null = Enter runs none of them. */
  readonly active: Command | null;
}

/** A slash and a word that is not finished, at the very beginning. */
const BEGUN = /^\/([^\s/]*)$/u;

/**
 * The commands for what is typed; null where nothing is offered. Names count by their beginning, descriptions by
 * any part; what only its description found has to be chosen before Enter runs it.
 */
export function offered(text: string, descriptions: Readonly<Record<Command, string>>): Palette | null {
  const begun = BEGUN.exec(text)?.[1]?.toLowerCase();
  if (begun === undefined) return null;
  const named = COMMANDS.filter((command) => command.startsWith(begun));
  const described = COMMANDS.filter(
    (command) => !named.includes(command) && descriptions[command].toLowerCase().includes(begun),
  );
  if (named.length + described.length === 0) return null;
  return { commands: [...named, ...described], active: named[0] ?? null };
}

/** One further down (1) or up (-1), round the ends. */
export function moved({ commands, active }: Palette, by: 1 | -1): Palette {
  const now = active === null ? (by === 1 ? -1 : 0) : commands.indexOf(active);
  return { commands, active: commands.at((now + by) % commands.length) ?? null };
}
