import { Signal } from "../lib/signal.js";
import type { ChatMessage, ServerFrame, ServerFrameOf } from "../protocol/index.js";
import { mergeHistory, messageFrom } from "./history.js";
import { EMPTY_CHAT, type Chat, type Draft, type Entry, type Line, type Message } from "./model.js";

/**
 * The chat as the page knows it: frames in, entries and a draft out. Knows no DOM and no socket.
 *
 * `chat` is always complete; whoever paints it decides how often to look.
 */
export class ChatStore {
  readonly chat = new Signal<Chat>(EMPTY_CHAT);

  #keys = 0;
  /** The id of the message whose reply the draft is. */
  #asked: string | null = null;
  #lastSent: string | null = null;
  #knownAtWelcome: ReadonlySet<string> = new Set();

  /** A message of our own that is on its way under the outbox's id. */
  sending(ownId: string, text: string): void {
    this.#lastSent = text;
    this.#add(this.#message({ key: ownId, role: "user", text, state: "waiting" }));
  }

  /** Takes one frame; `ownId` names the message of ours that it answers. */
  apply(frame: ServerFrame, ownId: string | null): void {
    switch (frame.type) {
      case "welcome":
        return this.#welcome(frame);
      case "turn.start":
        return this.#start(frame, ownId);
      case "delta":
        return this.#write(frame.turn, (draft) => ({ ...draft, text: draft.text + frame.text }));
      case "reasoning":
        return this.#write(frame.turn, (draft) => ({ ...draft, reasoning: draft.reasoning + frame.text }));
      case "sentence":
        return this.#set({ sentences: [...this.chat.value.sentences, frame.text] });
      case "turn.done":
        return this.#end(frame.text, { id: frame.message_id, state: "done" });
      case "turn.cancelled":
        return this.#end(frame.text, { state: "interrupted" });
      case "turn.error":
        return this.#fail(frame);
      case "notice":
        return this.#add(this.#line({ level: frame.level, text: frame.message }));
      case "error":
        return this.#refused(frame, ownId);
      case "say":
        return this.#add({ kind: "words", key: this.#key(), text: frame.text, source: frame.source });
      case "chat":
        return this.#replace(frame.messages);
      default:
        return undefined;
    }
  }

  /** The answer to our own question for the history; `arrived` are own messages that it contains. */
  history(stored: readonly ChatMessage[], arrived: readonly string[]): void {
    const here = this.chat.value.entries.filter((entry) => !arrived.includes(entry.key));
    this.#set({ entries: mergeHistory(stored, here, this.#knownAtWelcome, this.#asked) });
  }

  undelivered(ids: readonly string[]): void {
    const entries = this.chat.value.entries.map((entry) =>
      entry.kind === "message" && ids.includes(entry.key) ? { ...entry, state: "unsure" as const } : entry,
    );
    this.#set({ entries });
  }

  /** Takes an entry away, because its text is sent anew. */
  remove(key: string): void {
    this.#set({ entries: this.chat.value.entries.filter((entry) => entry.key !== key) });
  }

  #welcome(frame: ServerFrameOf<"welcome">): void {
    this.#knownAtWelcome = new Set(this.chat.value.entries.map((entry) => entry.key));
    if (frame.resumed) return;
    // What the turn wrote meanwhile is unknown: it is replayed from its start, or stands in the history.
    this.#asked = null;
    this.#set({ draft: null, sentences: [] });
  }

  #start(frame: ServerFrameOf<"turn.start">, ownId: string | null): void {
    this.#asked = frame.message_id;
    if (frame.text !== undefined) this.#lastSent = frame.text;
    const draft: Draft = { turn: frame.turn, text: "", reasoning: "", origin: frame.origin };
    this.#set({ entries: this.#withQuestion(frame, ownId), draft, sentences: [] });
  }

  #withQuestion(frame: ServerFrameOf<"turn.start">, ownId: string | null): readonly Entry[] {
    const { entries } = this.chat.value;
    if (frame.origin !== "user" || entries.some((entry) => isMessage(entry, frame.message_id))) return entries;
    const own = entries.find((entry): entry is Message => entry.kind === "message" && entry.key === ownId);
    if (own) {
      const acknowledged: Message = { ...own, id: frame.message_id, state: "done", at: new Date().toISOString() };
      return entries.map((entry) => (entry === own ? acknowledged : entry));
    }
    if (frame.text === undefined) return entries;
    return [...entries, this.#message({ key: frame.message_id, id: frame.message_id, role: "user", text: frame.text })];
  }

  #write(turn: number, change: (draft: Draft) => Draft): void {
    const { draft } = this.chat.value;
    const current = draft?.turn === turn ? draft : { turn, text: "", reasoning: "", origin: "user" as const };
    this.#set({ draft: change(current) });
  }

  #end(text: string, how: { id?: string; state: "done" | "interrupted" }): void {
    const { draft, entries } = this.chat.value;
    this.#asked = null;
    const shown = text || (how.state === "interrupted" ? (draft?.text ?? "") : "");
    if (!shown && !draft?.reasoning) return this.#set({ draft: null });
    const known = entries.find((entry) => how.id !== undefined && isMessage(entry, how.id));
    const reply = this.#message({
      key: known?.key ?? how.id ?? this.#key(),
      id: how.id ?? null,
      role: "assistant",
      text: shown,
      reasoning: draft?.reasoning ?? "",
      state: how.state,
      origin: draft?.origin ?? "user",
      at: new Date().toISOString(),
    });
    const others = known ? entries.map((entry) => (entry === known ? reply : entry)) : [...entries, reply];
    this.#set({ draft: null, entries: others });
  }

  #fail(frame: ServerFrameOf<"turn.error">): void {
    const { draft } = this.chat.value;
    if (draft?.text) this.#end(draft.text, { state: "interrupted" });
    this.#asked = null;
    const retry = frame.retryable && draft?.origin !== "nudge" ? this.#lastSent : null;
    const line = this.#line({ level: "error", text: frame.message, hint: frame.hint ?? null, retry });
    this.#set({ draft: null, entries: [...this.chat.value.entries, line] });
  }

  #refused(frame: ServerFrameOf<"error">, ownId: string | null): void {
    const entries = this.chat.value.entries.map((entry) =>
      entry.kind === "message" && entry.key === ownId ? { ...entry, state: "refused" as const } : entry,
    );
    const line = this.#line({ level: "error", text: frame.message });
    this.#set({ entries: [...entries, line] });
  }

  /** Another client emptied the chat, or it changed in some other way. */
  #replace(messages: readonly ChatMessage[]): void {
    const waiting = this.chat.value.entries.filter((entry) => entry.kind === "message" && entry.state === "waiting");
    this.#set({ entries: [...messages.map(messageFrom), ...waiting] });
  }

  #add(entry: Entry): void {
    this.#set({ entries: [...this.chat.value.entries, entry] });
  }

  #set(change: Partial<Chat>): void {
    this.chat.set({ ...this.chat.value, ...change });
  }

  #key(): string {
    return `local-${++this.#keys}`;
  }

  #message(known: Pick<Message, "key" | "role" | "text"> & Partial<Message>): Message {
    return {
      kind: "message",
      id: null,
      reasoning: "",
      state: "done",
      origin: "user",
      images: 0,
      at: null,
      error: null,
      ...known,
    };
  }

  #line(known: Pick<Line, "level" | "text"> & Partial<Line>): Line {
    return { kind: "line", key: this.#key(), hint: null, retry: null, ...known };
  }
}

function isMessage(entry: Entry, id: string | undefined): boolean {
  return entry.kind === "message" && entry.id === id;
}
