import type { ServerFrame } from "../protocol/index.js";

/** Keeps what belongs to an older turn, or to one that is over, from reaching the page. */
export class TurnFilter {
  #current: number | null = null;
  #over = false;

  get running(): boolean {
    return this.#current !== null && !this.#over;
  }

  /** After a welcome without replay: a turn may already run whose start we never saw. */
  forget(): void {
    this.#current = null;
    this.#over = false;
  }

  admits(frame: ServerFrame): boolean {
    if (!("turn" in frame)) return true;
    if (frame.type === "turn.start") {
      if (this.#current !== null && frame.turn <= this.#current) return false;
      this.#current = frame.turn;
      this.#over = false;
      return true;
    }
    this.#current ??= frame.turn;
    if (frame.turn !== this.#current || this.#over) return false;
    this.#over = frame.type === "turn.done" || frame.type === "turn.error" || frame.type === "turn.cancelled";
    return true;
  }
}
