import type { Picture } from "../pictures/picture.js";
import type { ErrorCode, NoticeLevel, RoutePath, Timing, TurnOrigin, UsageByRole } from "../protocol/index.js";
import type { Activity } from "./activity.js";

/**
 * `waiting`: ours, not yet acknowledged · `unsure`: nobody can say whether it arrived · `refused`: the server said no ·
 * `interrupted`: a reply that was stopped or broke off · `done`: all there.
 */
export type MessageState = "waiting" | "unsure" | "refused" | "interrupted" | "done";

/** What a turn cost, for whoever asks. */
export interface Cost {
  readonly path: RoutePath | null;
  readonly usage: UsageByRole;
  readonly timing: Timing;
}

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
  /** The pictures themselves, as long as this page lives. */
  readonly pictures: readonly Picture[];
  /** What was done for this reply, and what it cost, as long as this page lives. */
  readonly activity: Activity | null;
  readonly cost: Cost | null;
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
  readonly pictures: readonly Picture[];
}

/** Another agent's words, spoken through the character. */
export interface Words {
  readonly kind: "words";
  readonly key: string;
  readonly text: string;
  readonly source: string;
}

/** What was done in a turn that said nothing. */
export interface Deeds {
  readonly kind: "deeds";
  readonly key: string;
  readonly activity: Activity;
}

export type Entry = Message | Line | Words | Deeds;

/** The reply that is being written, apart from finished messages. */
export interface Draft {
  readonly turn: number;
  readonly text: string;
  readonly reasoning: string;
  readonly origin: TurnOrigin;
  readonly path: RoutePath | null;
  readonly activity: Activity | null;
  /** A line that the character says while it waits: no part of the reply. */
  readonly waiting: string | null;
}

export interface Chat {
  readonly entries: readonly Entry[];
  readonly draft: Draft | null;
  /** Sentences of the newest reply that are finished, for reading aloud. */
  readonly sentences: readonly string[];
  /** The server may have messages older than these. */
  readonly more: boolean;
}

export const EMPTY_CHAT: Chat = { entries: [], draft: null, sentences: [], more: false };
