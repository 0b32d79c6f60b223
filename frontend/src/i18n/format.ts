/** Numbers and times as a language writes them; `tag` is the catalogue's. */

const numbers = new Map<string, Intl.NumberFormat>();

function numberFormat(tag: string, options: Intl.NumberFormatOptions = {}): Intl.NumberFormat {
  const key = `${tag} ${JSON.stringify(options)}`;
  const format = numbers.get(key) ?? new Intl.NumberFormat(tag, options);
  numbers.set(key, format);
  return format;
}

export const count = (value: number, tag: string): string => numberFormat(tag).format(value);

/** Milliseconds as seconds: "0.4s", "12s". */
export function seconds(ms: number, tag: string): string {
  const maximumFractionDigits = ms < 9_950 ? 1 : 0;
  return numberFormat(tag, { style: "unit", unit: "second", unitDisplay: "narrow", maximumFractionDigits }).format(ms / 1_000);
}

export const percent = (share: number, tag: string): string =>
  numberFormat(tag, { style: "percent", maximumFractionDigits: 0 }).format(share);

/** An ISO time as the clock shows it, with the day where that isn't today's; "" for what is no time. */
export function moment(iso: string, tag: string, now = new Date()): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  const today = at.toDateString() === now.toDateString();
  return at.toLocaleString(tag, today ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" });
}
