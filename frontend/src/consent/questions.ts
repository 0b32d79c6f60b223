import type { Cancel, Clock } from "../lib/clock.js";
import { Signal } from "../lib/signal.js";
import type { Capability, ServerFrame, ServerFrameOf } from "../protocol/index.js";

/** After so long the server takes silence for a no. */
export const ANSWER_WITHIN_MS = 30_000;

/** May a tool do this? */
export interface Question {
  readonly id: string;
  readonly turn: number;
  readonly capability: Capability;
  readonly detail: string;
  /** Clock time at which silence becomes a no. */
  readonly until: number;
}

interface Open extends Question {
  readonly step: number;
  /** The calls one of which asks: once all of them are over, somebody has answered. */
  readonly callers: ReadonlySet<string>;
  readonly endTimer: Cancel;
}

/** The tools that ask for a capability, by their names. */
const ASKERS: Readonly<Record<Capability, RegExp>> = { screenshot: /screen_?shot/i, checks: /check/i };

/**
 * The questions that wait for the owner. The server doesn't say when another page has answered one, but
 * what the turn does next shows it.
 */
export class Questions {
  readonly open = new Signal<readonly Question[]>([]);

  #open: readonly Open[] = [];
  /** Names of the calls that run, by step and id. */
  readonly #running = new Map<string, string>();
  #step = 0;

  constructor(private readonly clock: Clock) {}

  apply(frame: ServerFrame): void {
    switch (frame.type) {
      case "consent.request":
        return this.#ask(frame);
      case "tool.start":
        this.#running.set(callKey(frame), frame.name);
        this.#step = Math.max(this.#step, frame.step);
        return this.#keep((question) => question.step >= frame.step);
      case "tool.end":
        this.#running.delete(callKey(frame));
        return this.#keep(({ callers }) => callers.size === 0 || [...callers].some((call) => this.#running.has(call)));
      case "welcome":
        return frame.resumed ? undefined : this.#endTurn();
      case "turn.start":
      case "turn.done":
      case "turn.error":
      case "turn.cancelled":
        return this.#endTurn();
      // The chat model speaks when the tools are through.
      case "delta":
      case "vision":
        return this.#keep(() => false);
      default:
        return undefined;
    }
  }

  /** Takes a question away: it was answered, or nobody waits for the answer any more. */
  close(id: string): void {
    this.#keep((question) => question.id !== id);
  }

  #ask(frame: ServerFrameOf<"consent.request">): void {
    const { consent_id: id, turn, capability, detail } = frame;
    this.close(id);
    const running = [...this.#running];
    const asking = running.filter(([, name]) => ASKERS[capability].test(name));
    const callers = new Set((asking.length > 0 ? asking : running).map(([call]) => call));
    const until = this.clock.now() + ANSWER_WITHIN_MS;
    const endTimer = this.clock.after(ANSWER_WITHIN_MS, () => this.close(id));
    this.#set([...this.#open, { id, turn, capability, detail, until, step: this.#step, callers, endTimer }]);
  }

  #endTurn(): void {
    this.#running.clear();
    this.#step = 0;
    this.#keep(() => false);
  }

  #keep(stays: (question: Open) => boolean): void {
    const kept = this.#open.filter(stays);
    if (kept.length === this.#open.length) return;
    for (const question of this.#open) if (!kept.includes(question)) question.endTimer();
    this.#set(kept);
  }

  #set(open: readonly Open[]): void {
    this.#open = open;
    this.open.set(open);
  }
}

const callKey = ({ step, call_id }: { step: number; call_id: string }) => `${step} ${call_id}`;
