/** Time as the pure parts see it, so that tests decide when it passes. */
export type Cancel = () => void;

export interface Clock {
  /** Milliseconds from an arbitrary start; never runs backwards. */
  now(): number;
  after(ms: number, run: () => void): Cancel;
}

export const browserClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
