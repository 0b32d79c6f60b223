import type { ChatMessage, ClientFrameOf, ServerFrameOf } from "../protocol/index.js";

type SendFrame = ClientFrameOf<"send"> & { readonly id: string };

interface Entry {
  readonly frame: SendFrame;
  /** Went out on some connection, so the server may have it although it never said so. */
  attempted: boolean;
}

const CAPACITY = 8;

/**
 * Messages on their way: each stays here until the server has shown that it has it, so that a message is
 * neither lost nor sent twice when the connection breaks in between.
 */
export class Outbox {
  #entries: Entry[] = [];
  readonly #knownMessages = new Set<string>();

  /** False when too many messages wait already. */
  add(frame: SendFrame): boolean {
    if (this.#entries.length >= CAPACITY) return false;
    this.#entries.push({ frame, attempted: false });
    return true;
  }

  /** What has to go out now; all of it counts as attempted from here on. */
  takeAll(): SendFrame[] {
    for (const entry of this.#entries) entry.attempted = true;
    return this.#entries.map((entry) => entry.frame);
  }

  /**
   * The id of the message that `start` belongs to, which leaves the outbox. While missed frames are replayed
   * the answer's `re` may be gone, then the text decides.
   */
  acknowledge(start: ServerFrameOf<"turn.start">, replaying: boolean): string | null {
    const fresh = !this.#knownMessages.has(start.message_id);
    this.#knownMessages.add(start.message_id);
    const own = this.#remove((entry) => entry.frame.id === start.re);
    if (own || !replaying || !fresh || start.origin !== "user" || start.text === undefined) return own;
    return this.#remove((entry) => entry.attempted && sameText(entry.frame.text, start.text));
  }

  /** The server refused the message `re`. */
  refuse(re: string | undefined): string | null {
    return this.#remove((entry) => entry.frame.id === re);
  }

  /** Ids of the messages that a history shows to have arrived; they leave the outbox. */
  reconcile(messages: readonly ChatMessage[]): string[] {
    const arrived: string[] = [];
    for (const message of messages) {
      if (message.role === "user" && !this.#knownMessages.has(message.id)) {
        const id = this.#remove((entry) => entry.attempted && sameText(entry.frame.text, message.text));
        if (id) arrived.push(id);
      }
      this.#knownMessages.add(message.id);
    }
    return arrived;
  }

  /** Messages whose fate can't be known (no replay, no history): sending them again might double them. */
  dropAttempted(): string[] {
    const dropped = this.#entries.filter((entry) => entry.attempted).map((entry) => entry.frame.id);
    this.#entries = this.#entries.filter((entry) => !entry.attempted);
    return dropped;
  }

  #remove(matches: (entry: Entry) => boolean): string | null {
    const index = this.#entries.findIndex(matches);
    if (index < 0) return null;
    const [entry] = this.#entries.splice(index, 1);
    return entry?.frame.id ?? null;
  }
}

const sameText = (one: string, other: string | undefined) => one.trim() === other?.trim();
