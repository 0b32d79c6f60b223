/** What the page does by itself when it is typed. */
export const COMMANDS = ["help", "status", "model", "connect"] as const;
export type Command = (typeof COMMANDS)[number];

export type Typed =
  | { readonly kind: "message" }
  | { readonly kind: "command"; readonly command: Command }
  | { readonly kind: "unknown"; readonly name: string };

/** The whole first word: "/usr/bin/x", "/etc." and "/2" are no commands. */
const FIRST_WORD = /^\s*\/([a-z]{1,20})(?=\s|$)/i;

/** Whether a text is for the companion or for the page. */
export function typed(text: string): Typed {
  const name = FIRST_WORD.exec(text)?.[1]?.toLowerCase();
  if (name === undefined) return { kind: "message" };
  const command = COMMANDS.find((known) => known === name);
  return command ? { kind: "command", command } : { kind: "unknown", name };
}
