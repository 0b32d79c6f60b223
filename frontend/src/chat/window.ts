/** The part of the chat that is in the document: entries from `from` up to, not including, `to`. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** So many entries at most; even one-line entries then fill a tall screen several times. */
export const MOST = 80;
/** So many come in at one end, and leave at the other, when somebody scrolls there. */
export const STEP = 20;

/** The newest entries. */
export const newest = (length: number): Span => ({ from: Math.max(0, length - MOST), to: length });

/** Further up; the same span where nothing is above. */
export function earlier(span: Span): Span {
  const from = Math.max(0, span.from - STEP);
  return { from, to: Math.min(span.to, from + MOST) };
}

/** Further down; the same span where nothing is below. */
export function later(span: Span, length: number): Span {
  const to = Math.min(length, span.to + STEP);
  return { from: Math.max(span.from, to - MOST), to };
}

/**
 * The span that shows the same entries once the list has changed: more above, more below, or others. Entries
 * are known by their keys; where none of those that were shown is left, the newest show.
 */
export function carried(span: Span, before: readonly string[], after: readonly string[]): Span {
  const places = new Map(after.map((key, index) => [key, index]));
  for (let index = span.from; index < span.to; index++) {
    const now = places.get(before[index] ?? "");
    if (now === undefined) continue;
    const from = Math.max(0, now - (index - span.from));
    // Who sees the end of the list, sees what is added there as long as there is room.
    const to = span.to === before.length ? from + MOST : from + (span.to - span.from);
    return { from, to: Math.min(after.length, to) };
  }
  return newest(after.length);
}
