import type { Cancel, Clock } from "../lib/clock.js";
import { Signal } from "../lib/signal.js";
import type { Expression, Motion, ServerFrame } from "../protocol/index.js";

export type Gesture = Exclude<Motion, "talk">;

export interface Pose {
  readonly state: "idle" | "thinking" | "talking";
  readonly gesture: Gesture | null;
  readonly expression: Expression | null;
}

const GESTURE_MS: Readonly<Record<Gesture, number>> = { nod: 900, shake: 900, blink: 260 };

/**
 * What the character does, from the server's events: talk lasts from the first words to the end of the turn;
 * nod, shake and blink share one slot, where the newest wins; an expression returns to neutral by itself.
 */
export class Performer {
  readonly pose = new Signal<Pose>({ state: "idle", gesture: null, expression: null });

  #endGesture: Cancel = () => undefined;
  #endExpression: Cancel = () => undefined;

  constructor(private readonly clock: Clock) {}

  apply(frame: ServerFrame): void {
    switch (frame.type) {
      case "turn.start":
        return this.#change({ state: "thinking" });
      case "delta":
        return this.#change({ state: "talking" });
      case "motion":
        return frame.motion === "talk" ? this.#change({ state: "talking" }) : this.#gesture(frame.motion);
      case "expression":
        return this.#express(frame.expression, frame.hold_ms);
      case "say":
        return frame.expression && this.#express(frame.expression, SAY_HOLD_MS);
      case "turn.done":
      case "turn.error":
      case "turn.cancelled":
        return this.#change({ state: "idle" });
      case "welcome":
        return frame.resumed ? undefined : this.#change({ state: "idle" });
      default:
        return undefined;
    }
  }

  /** The connection is gone: nobody talks until it is back. */
  rest(): void {
    this.#change({ state: "idle" });
  }

  #gesture(gesture: Gesture): void {
    this.#endGesture();
    this.#change({ gesture });
    this.#endGesture = this.clock.after(GESTURE_MS[gesture], () => this.#change({ gesture: null }));
  }

  #express(expression: Expression, holdMs: number): void {
    this.#endExpression();
    this.#change({ expression });
    this.#endExpression = this.clock.after(holdMs, () => this.#change({ expression: null }));
  }

  #change(change: Partial<Pose>): void {
    const next = { ...this.pose.value, ...change };
    const { state, gesture, expression } = this.pose.value;
    if (next.state !== state || next.gesture !== gesture || next.expression !== expression) this.pose.set(next);
  }
}

const SAY_HOLD_MS = 4_000;
