/**
 * A reply that is still being written, so that what shows of it stays what it is: what is begun and not closed
 * is closed, and what may yet become anything (three dashes, the first row of a table) waits for one more delta.
 * Markdown in, Markdown out.
 */
export function steady(text: string): string {
  const lines = text.split("\n");
  const last = lines.at(-1) ?? "";
  const fence = openFence(lines);
  if (fence?.line === lines.length - 1) return [...lines.slice(0, -1), last.replace(/[^`~]*$/, "")].join("\n");
  if (fence) return isPartOf(fence.marker, last) ? lines.slice(0, -1).join("\n") : text;
  if (UNDECIDED.test(last) || (lines.length > 1 && /^\s*\d{1,9}$/.test(last))) return lines.slice(0, -1).join("\n");
  const start = inlineStart(lines);
  const tail = lines.slice(start);
  if (mayBeTable(tail)) return lines.slice(0, start).join("\n");
  return [...lines.slice(0, start), closed(tail.join("\n"))].join("\n");
}

/** Before a fence there may be quotes' and lists' own marks. */
const FENCE = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(`{3,}|~{3,})(.*)$/;
const UNDECIDED = /^[\s>]*(?:[-+*_=~`#>]+|\d{1,9}[.)])\s*$/;
/** What a line begins with that is no continuation of the paragraph above it. */
const OWN_BLOCK = /^[\s>]*(?:[-*+]\s|\d{1,9}[.)]\s|#{1,6}\s|>)/;
const TABLE_ROW = /^\s*\|/;
const DELIMITERS = /^[\s|:-]*$/;

function openFence(lines: readonly string[]): { readonly marker: string; readonly line: number } | null {
  let open: { marker: string; line: number } | null = null;
  lines.forEach((text, line) => {
    const [, marker, rest] = FENCE.exec(text) ?? [];
    if (marker === undefined || rest === undefined) return;
    if (!open) {
      if (marker[0] === "~" || !rest.includes("`")) open = { marker, line };
    } else if (marker.startsWith(open.marker) && rest.trim() === "") {
      open = null;
    }
  });
  return open;
}

/** The beginning of the line that will close a fence. */
function isPartOf(marker: string, line: string): boolean {
  const begun = line.replace(/^[\s>]*/, "");
  return begun !== "" && begun.length < marker.length && marker.startsWith(begun);
}

function inlineStart(lines: readonly string[]): number {
  let start = lines.length - 1;
  while (start > 0 && !OWN_BLOCK.test(lines[start] ?? "") && (lines[start - 1] ?? "").trim() !== "") start--;
  return start;
}

function mayBeTable([head, delimiters, more]: readonly string[]): boolean {
  if (head === undefined || !TABLE_ROW.test(head) || more !== undefined) return false;
  return delimiters === undefined || (DELIMITERS.test(delimiters) && columns(delimiters) < columns(head));
}

const columns = (row: string) => row.split("|").filter((cell) => cell.trim() !== "").length;

/** Closes code and emphasis that is open at the end, and shows a link by its words until its address is there. */
function closed(text: string): string {
  const open: string[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text[at] ?? "";
    if (char === "\\") {
      at += 2;
    } else if (char === "`") {
      const run = runAt(text, at);
      const end = endOfCode(text, at + run.length, run);
      if (end === null) return withClosers(closedCode(text, at, run), open);
      at = end;
    } else if (char === "*" || char === "_" || char === "~") {
      const run = runAt(text, at);
      const partOf = open.at(-1);
      if (at + run.length === text.length && !(partOf === run && /\S$/.test(text.slice(0, at)))) {
        return withClosers(text.slice(0, at), open);
      }
      take(run, text[at - 1] ?? " ", text[at + run.length] ?? " ", open);
      at += run.length;
    } else {
      at++;
    }
  }
  return withClosers(text.replace(/\[([^[\]]*)\]\([^()\s]*$/, "$1"), open);
}

function runAt(text: string, start: number): string {
  let end = start + 1;
  while (text[end] === text[start]) end++;
  return text.slice(start, end);
}

function endOfCode(text: string, from: number, run: string): number | null {
  for (let at = text.indexOf(run, from); at >= 0; at = text.indexOf(run, at + 1)) {
    const whole = runAt(text, at);
    if (whole === run) return at + run.length;
    at += whole.length - 1;
  }
  return null;
}

function closedCode(text: string, start: number, run: string): string {
  const inside = text.slice(start + run.length);
  if (inside.trim() === "") return text.slice(0, start);
  // A shorter run at the very end is the closing one, half arrived.
  return text.replace(/`+$/, "") + run;
}

/** A run of marks opens or closes emphasis, or is just written there. */
function take(run: string, before: string, after: string, open: string[]): void {
  if (run[0] === "~" && run.length !== 2) return;
  const word = /[\p{L}\p{N}]/u;
  if (run[0] !== "~" && run.length === 1 && word.test(before) && word.test(after) && open.at(-1) !== run) return;
  if (/\S/.test(before) && open.at(-1) === run) open.pop();
  else if (/\S/.test(after)) open.push(run);
}

function withClosers(text: string, open: readonly string[]): string {
  let kept = text.trimEnd();
  const closers = [...open].reverse();
  // What was opened and has nothing in it yet waits.
  while (closers[0] !== undefined && kept.endsWith(closers[0])) {
    kept = kept.slice(0, -closers[0].length).trimEnd();
    closers.shift();
  }
  return closers.length === 0 ? kept : kept + closers.join("");
}
