const FIRST_MS = 500;
const LONGEST_MS = 15_000;

/** Milliseconds before the next try after `failures` failed ones: doubling, with up to half of it random. */
export function retryDelay(failures: number, random: () => number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 16));
  return full * (0.5 + random() / 2);
}
