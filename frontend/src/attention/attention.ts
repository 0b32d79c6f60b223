import { Signal } from "../lib/signal.js";
import type { TextStorage } from "../lib/storage.js";
import type { ServerFrame } from "../protocol/index.js";

/** What somebody who looks elsewhere may want to know. */
export type Occasion = "replied" | "failed" | "asks" | "says";

/** The browser, as far as it calls somebody back. */
export interface Caller {
  hidden(): boolean;
  permission(): NotificationPermission | "unsupported";
  /** Asks the person in the browser's own way; needs a click. */
  request(): Promise<void>;
  call(occasion: Occasion): void;
  /** Takes back what was shown. */
  quiet(): void;
}

/** Whoever waited so long has probably gone elsewhere. */
const LONG_MS = 10_000;
const KEY = "pet.notify";

/** Counts what came in while nobody looked, and calls whoever wants to be called. Makes no sound. */
export class Attention {
  readonly unread = new Signal(0);
  /** The page offers to call: once, when somebody comes back from a long wait. */
  readonly offers = new Signal(false);

  constructor(
    private readonly caller: Caller,
    private readonly storage: TextStorage,
  ) {}

  apply(frame: ServerFrame): void {
    const occasion = occasionOf(frame);
    if (occasion === null || !this.caller.hidden()) return;
    this.unread.set(this.unread.value + 1);
    const answer = this.storage.get(KEY);
    const permission = this.caller.permission();
    if (answer === "yes" && permission === "granted") this.caller.call(occasion);
    const possible = permission === "default" || permission === "granted";
    const long = frame.type === "turn.done" && frame.timing.total_ms >= LONG_MS;
    if (answer === null && possible && long) this.offers.set(true);
  }

  /** Somebody looks at the page again. */
  seen(): void {
    this.unread.set(0);
    this.caller.quiet();
  }

  /** The answer to the offer, which is never made again. */
  async answer(wanted: boolean): Promise<void> {
    this.storage.set(KEY, wanted ? "yes" : "no");
    this.offers.set(false);
    if (wanted && this.caller.permission() === "default") await this.caller.request();
  }
}

function occasionOf(frame: ServerFrame): Occasion | null {
  switch (frame.type) {
    case "turn.done":
      return "replied";
    case "turn.error":
      return "failed";
    case "consent.request":
      return "asks";
    case "say":
      return "says";
    default:
      return null;
  }
}
