import type { Cancel, Clock } from "../lib/clock.js";

const PAINT_MS = 50;

/**
 * Runs `paint` at most every 50 ms however often it is asked, and always once more after the last request, so
 * that nothing stays unpainted.
 */
export class Painter {
  #cancel: Cancel | null = null;
  #paintedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly clock: Clock,
    private readonly paint: () => void,
  ) {}

  request(): void {
    if (this.#cancel) return;
    const wait = this.#paintedAt + PAINT_MS - this.clock.now();
    if (wait <= 0) this.#run();
    else this.#cancel = this.clock.after(wait, () => this.#run());
  }

  /** Paints now what was asked for. */
  flush(): void {
    this.#cancel?.();
    this.#run();
  }

  #run(): void {
    this.#cancel = null;
    this.#paintedAt = this.clock.now();
    this.paint();
  }
}
