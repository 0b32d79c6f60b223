import type { ErrorCode, NoticeLevel, TurnOrigin } from "../protocol/index.js";

/**
 * `waiting`: ours, not yet acknowledged · `unsure`: nobody can say whether it arrived · `refused`: the server said no ·
 * `interrupted`: a reply that was stopped or broke off · `done`: all there.
 */
export type MessageState = "waiting" | "unsure" | "refused" | "interrupted" | "done";

export interface Message {
  readonly kind: "message";
  /** Stays the same for as long as the page shows this message. */
  readonly key: string;
  /** The server's id, once it is known. */
  readonly id: string | null;
  readonly role: "user" | "assistant";
  readonly text: string;
  readonly reasoning: string;
  readonly state: MessageState;
  readonly origin: TurnOrigin;
  readonly images: number;
  /** ISO time, where known. */
  readonly at: string | null;
  readonly error: ErrorCode | null;
}

/** A line of the system: an error of a turn, a notice, a refused request. */
export interface Line {
  readonly kind: "line";
  readonly key: string;
  readonly level: NoticeLevel;
  readonly text: string;
  readonly hint: string | null;
  /** What "try again" would send. */
  readonly retry: string | null;
}

/** Another agent's words, spoken through the character. */
export interface Words {
  readonly kind: "words";
  readonly key: string;
  readonly text: string;
  readonly source: string;
}

export type Entry = Message | Line | Words;

/** The reply that is being written, apart from finished messages. */
export interface Draft {
  readonly turn: number;
  readonly text: string;
  readonly reasoning: string;
  readonly origin: TurnOrigin;
}

export interface Chat {
  readonly entries: readonly Entry[];
  readonly draft: Draft | null;
  /** Sentences of the newest reply that are finished, for reading aloud. */
  readonly sentences: readonly string[];
}

export const EMPTY_CHAT: Chat = { entries: [], draft: null, sentences: [] };
