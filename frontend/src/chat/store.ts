import { Signal } from "../lib/signal.js";
import type { Picture } from "../pictures/picture.js";
import type { ChatMessage, ServerFrame, ServerFrameOf } from "../protocol/index.js";
import { settled, withFrame } from "./activity.js";
import { HISTORY_PAGE, mergeHistory, messageFrom } from "./history.js";
import { EMPTY_CHAT, type Chat, type Cost, type Draft, type Entry, type Line, type Message } from "./model.js";

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
  #lastSent: Sent | null = null;
  #knownAtWelcome: ReadonlySet<string> = new Set();

  /** A message of our own that is on its way under the outbox's id. */
  sending(ownId: string, text: string, pictures: readonly Picture[] = []): void {
    this.#lastSent = { text, pictures };
    const images = pictures.length;
    this.#add(this.#message({ key: ownId, role: "user", text, state: "waiting", images, pictures }));
  }

  /** The pictures that would go out again with an entry. */
  picturesOf(key: string): readonly Picture[] {
    const entry = this.chat.value.entries.find((candidate) => candidate.key === key);
    return entry?.kind === "message" || entry?.kind === "line" ? entry.pictures : [];
  }

  /** Takes one frame; `ownId` names the message of ours that it answers. */
  apply(frame: ServerFrame, ownId: string | null): void {
    switch (frame.type) {
      case "welcome":
        return this.#welcome(frame);
      case "turn.start":
        return this.#start(frame, ownId);
      case "delta":
        return this.#write(frame.turn, (draft) => ({ ...draft, text: draft.text + frame.text, waiting: null }));
      case "reasoning":
        return this.#write(frame.turn, (draft) => ({ ...draft, reasoning: draft.reasoning + frame.text }));
      case "turn.route":
        return this.#write(frame.turn, (draft) => ({ ...draft, path: frame.path }));
      case "tool.start":
      case "tool.progress":
      case "tool.end":
      case "vision":
        return this.#write(frame.turn, (draft) => ({ ...draft, activity: withFrame(draft.activity, frame) }));
      case "waiting":
        return this.#write(frame.turn, (draft) => (draft.text ? draft : { ...draft, waiting: frame.text }));
      case "sentence":
        return this.#set({ sentences: [...this.chat.value.sentences, frame.text] });
      case "turn.done":
        return this.#end(frame.text, { id: frame.message_id, state: "done" }, frame);
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
    const entries = mergeHistory(stored, here, this.#knownAtWelcome, this.#asked);
    const startsHere = stored[0] !== undefined && entries[0] !== undefined && isMessage(entries[0], stored[0].id);
    this.#set({ entries, more: stored.length >= HISTORY_PAGE && (startsHere || this.chat.value.more) });
  }

  /** The id of the oldest message here, to ask for what was before it. */
  oldest(): string | null {
    return this.chat.value.entries.find((entry): entry is Message => entry.kind === "message" && entry.id !== null)?.id ?? null;
  }

  /** A page of what was before the message `before`. */
  older(page: readonly ChatMessage[], before: string): void {
    if (before !== this.oldest()) return;
    const entries = [...page.map(messageFrom), ...this.chat.value.entries];
    this.#set({ entries, more: page.length >= HISTORY_PAGE });
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
    if (frame.text !== undefined && ownId === null) this.#lastSent = { text: frame.text, pictures: [] };
    const draft = newDraft(frame.turn, frame.origin);
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
    const current = draft?.turn === turn ? draft : newDraft(turn, "user");
    this.#set({ draft: change(current) });
  }

  #end(text: string, how: { id?: string; state: "done" | "interrupted" }, done?: ServerFrameOf<"turn.done">): void {
    const { draft, entries } = this.chat.value;
    this.#asked = null;
    const shown = text || (how.state === "interrupted" ? (draft?.text ?? "") : "");
    const activity = settled(draft?.activity ?? null, done?.timing.tool_ms);
    if (!shown && !draft?.reasoning) return this.#endSilently();
    const known = entries.find((entry) => how.id !== undefined && isMessage(entry, how.id));
    const reply = this.#message({
      key: known?.key ?? how.id ?? this.#key(),
      id: how.id ?? null,
      role: "assistant",
      text: shown,
      reasoning: draft?.reasoning ?? "",
      state: how.state,
      origin: draft?.origin ?? "user",
      activity,
      cost: done ? costOf(done, draft) : null,
      at: new Date().toISOString(),
    });
    const others = known ? entries.map((entry) => (entry === known ? reply : entry)) : [...entries, reply];
    this.#set({ draft: null, entries: others });
  }

  /** Nothing was said; what was done stays to be seen. */
  #endSilently(): void {
    const { draft, entries } = this.chat.value;
    const activity = settled(draft?.activity ?? null);
    const deeds: Entry[] = activity ? [{ kind: "deeds", key: this.#key(), activity }] : [];
    this.#set({ draft: null, entries: [...entries, ...deeds] });
  }

  #fail(frame: ServerFrameOf<"turn.error">): void {
    const { draft } = this.chat.value;
    if (draft?.text) this.#end(draft.text, { state: "interrupted" });
    else this.#endSilently();
    this.#asked = null;
    const again = frame.retryable && draft?.origin !== "nudge" ? this.#lastSent : null;
    const retry = again?.text ?? null;
    const pictures = again?.pictures ?? [];
    this.#add(this.#line({ level: "error", text: frame.message, hint: frame.hint ?? null, retry, pictures }));
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
    this.#set({ entries: [...messages.map(messageFrom), ...waiting], more: false });
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
      pictures: [],
      activity: null,
      cost: null,
      at: null,
      error: null,
      ...known,
    };
  }

  #line(known: Pick<Line, "level" | "text"> & Partial<Line>): Line {
    return { kind: "line", key: this.#key(), hint: null, retry: null, pictures: [], ...known };
  }
}

/** What "try again" sends. */
interface Sent {
  readonly text: string;
  readonly pictures: readonly Picture[];
}

function newDraft(turn: number, origin: Draft["origin"]): Draft {
  return { turn, text: "", reasoning: "", origin, path: null, activity: null, waiting: null };
}

function costOf({ usage, timing }: ServerFrameOf<"turn.done">, draft: Draft | null): Cost {
  return { path: draft?.path ?? null, usage, timing };
}

function isMessage(entry: Entry, id: string | undefined): boolean {
  return entry.kind === "message" && entry.id === id;
}
