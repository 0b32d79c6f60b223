/** What the page does by itself when it is typed. */
export const COMMANDS = ["help", "status", "model", "connect", "theme", "language"] as const;
export type Command = (typeof COMMANDS)[number];

export type Typed =
  | { readonly kind: "message" }
  | { readonly kind: "command"; readonly command: Command }
  | { readonly kind: "unknown"; readonly name: string; readonly nearest: Command | null };

/** The whole first word: "/usr/bin/x", "/etc." and "/2" are no commands. */
const FIRST_WORD = /^\s*\/([a-z]{1,20})(?=\s|$)/i;

/** Whether a text is for the companion or for the page. */
export function typed(text: string): Typed {
  const name = FIRST_WORD.exec(text)?.[1]?.toLowerCase();
  if (name === undefined) return { kind: "message" };
  const command = COMMANDS.find((known) => known === name);
  return command ? { kind: "command", command } : { kind: "unknown", name, nearest: nearest(name) };
}

/** So many slips make another word of it. */
const MOST_SLIPS = 2;

/** The command that somebody may have meant. */
function nearest(name: string): Command | null {
  const distances = COMMANDS.map((command) => ({ command, slips: slips(name, command) }));
  const best = distances.reduce((one, other) => (other.slips < one.slips ? other : one));
  return best.slips <= MOST_SLIPS && best.slips < name.length ? best.command : null;
}

/** How many letters are wrong, missing, too many or swapped with their neighbour. */
function slips(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, index) => index)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= one.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= other.length; j++) {
      const wrong = one[i - 1] === other[j - 1] ? 0 : 1;
      const swapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1] ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY;
      rows[i]?.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + wrong, swapped));
    }
  }
  return at(one.length, other.length);
}
