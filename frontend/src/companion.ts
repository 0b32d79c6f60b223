import { changeCode, cleanToken, takeCode } from "./access/code.js";
import { diagnose } from "./access/health.js";
import { TOKEN_KEY, TokenKeeper } from "./access/token.js";
import { Attention } from "./attention/attention.js";
import { browserCaller } from "./attention/browser.js";
import { askedLast, lastOwn } from "./chat/anew.js";
import { HISTORY_PAGE } from "./chat/history.js";
import { Painter } from "./chat/painter.js";
import { ChatStore } from "./chat/store.js";
import type { Chat } from "./chat/model.js";
import { openBrowserSocket, socketUrl } from "./connection/browser.js";
import { Connection } from "./connection/connection.js";
import { RequestError } from "./connection/requests.js";
import { loadResumePoint, saveResumePoint } from "./connection/resume-point.js";
import { Questions, type Question } from "./consent/questions.js";
import { Language } from "./i18n/index.js";
import { browserClock } from "./lib/clock.js";
import { Signal } from "./lib/signal.js";
import { safeStorage } from "./lib/storage.js";
import { onWire, type Picture } from "./pictures/picture.js";
import { readPicture } from "./pictures/read.js";
import { PictureTray } from "./pictures/tray.js";
import type { ConsentWord, Limits, ServerFrame } from "./protocol/index.js";
import { Performer } from "./stage/performer.js";
import { Theme, THEME_KEY } from "./theme/theme.js";
import { chatProviderIn, providersIn, type ServerState } from "./view.js";

/** How the door stands: `spent` = the code in the address was no good, `wrong` = the token pasted here was. */
export type Door = "untried" | "spent" | "wrong";

/** Everything behind the page, wired to the browser: one for each page. */
export class Companion {
  readonly kept = safeStorage(() => window.localStorage);
  readonly tabOnly = safeStorage(() => window.sessionStorage);
  readonly language = new Language(this.kept, navigator.languages);
  readonly theme = new Theme(this.kept);
  readonly attention = new Attention(browserCaller(() => this.language.words), this.kept);
  readonly performer = new Performer(browserClock);
  /** The chat, told at most every 50 ms. */
  readonly chat: Signal<Chat>;
  readonly server = new Signal<ServerState | null>(null);
  readonly providers = new Signal<readonly string[]>([]);
  readonly chatProvider = new Signal("");
  readonly limits = new Signal<Limits | null>(null);
  readonly questions = new Questions(browserClock);
  readonly tray = new PictureTray(readPicture, () => this.limits.value);
  readonly door = new Signal<Door>("untried");
  readonly connection: Connection;

  readonly #store = new ChatStore();
  readonly #painter: Painter;
  readonly #token = new TokenKeeper(this.kept);
  readonly #base = document.baseURI;
  #pasted = false;
  #readingOlder = false;

  constructor() {
    this.chat = new Signal(this.#store.chat.value);
    this.#painter = new Painter(browserClock, () => this.chat.set(this.#store.chat.value));
    this.#store.chat.subscribe(() => this.#painter.request());
    this.connection = new Connection(
      {
        clock: browserClock,
        random: Math.random,
        idPrefix: Math.random().toString(36).slice(2, 10),
        openSocket: () => openBrowserSocket(socketUrl(this.#base), this.#token.protocols()),
        locale: () => this.language.locale.value,
        diagnose: () => diagnose(this.#base, (url, init) => fetch(url, init)),
        loadResumePoint: () => loadResumePoint(this.tabOnly),
        saveResumePoint: (point) => saveResumePoint(this.tabOnly, point),
      },
      {
        frame: (frame, ownId) => this.#frame(frame, ownId),
        history: (chat, arrived) => this.#store.history(chat.messages, arrived),
        undelivered: (ids) => this.#store.undelivered(ids),
      },
    );
    this.connection.status.subscribe(({ phase }) => {
      if (phase === "offline") this.performer.rest();
      if (phase === "refused" && this.#pasted) this.door.set("wrong");
    });
    this.language.locale.subscribe(() => this.connection.restart());
  }

  async start(): Promise<void> {
    const code = takeCode(location, (address) => history.replaceState(history.state, "", address));
    if (code !== null) {
      const token = await changeCode(code, this.#base, (url, init) => fetch(url, init));
      if (token === null) this.door.set("spent");
      else this.#token.set(token);
    }
    window.addEventListener("online", () => this.connection.wake());
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) return;
      this.connection.wake();
      this.attention.seen();
    });
    window.addEventListener("storage", (event) => {
      if (event.key === TOKEN_KEY && event.newValue) this.connection.wake();
      if (event.key === THEME_KEY) this.theme.reread();
    });
    this.connection.start();
  }

  /** Sends a text with the pictures in the tray; false when it can't even wait: then all stays with the person. */
  send(text: string): boolean {
    if (!this.#send(text, this.tray.content.value.pictures)) return false;
    this.tray.empty();
    return true;
  }

  /** Sends the text and pictures of an entry that failed; the entry gives way to the new message. */
  sendAgain(key: string, text: string): void {
    if (this.#send(text, this.#store.picturesOf(key))) this.#store.remove(key);
  }

  /** Asks once more what was asked last. */
  regenerate(): void {
    const asked = askedLast(this.#store.chat.value);
    if (asked) this.#send(asked.text, asked.pictures);
  }

  /** The text of the person's last message, to be edited; its pictures go back into the tray. */
  takeLast(): string | null {
    const last = lastOwn(this.#store.chat.value.entries);
    if (!last) return null;
    this.tray.put(last.pictures);
    return last.text;
  }

  /** Reads what was said before the oldest message here. */
  async older(): Promise<void> {
    const before = this.#store.oldest();
    if (this.#readingOlder || before === null) return;
    this.#readingOlder = true;
    try {
      const asked = { type: "chat.history", before, limit: HISTORY_PAGE } as const;
      this.#store.older((await this.connection.request<"chat.history">(asked)).messages, before);
    } catch (error) {
      // Whoever scrolls on asks again.
      if (!(error instanceof RequestError)) throw error;
    } finally {
      this.#readingOlder = false;
    }
  }

  /** Answers a tool's question; false when nobody waits for the answer any more. Throws {@link RequestError}. */
  async answer(question: Question, answer: ConsentWord): Promise<boolean> {
    const consent_id = question.id;
    try {
      await this.connection.request<"consent.answer">({ type: "consent.answer", consent_id, answer });
    } catch (error) {
      const over = error instanceof RequestError && error.code === "not_found";
      if (!over) throw error;
      this.questions.close(question.id);
      return false;
    }
    this.questions.close(question.id);
    return true;
  }

  /** Tells the person something that belongs to no reply. */
  tell(code: string, message: string): void {
    this.#store.apply({ type: "notice", level: "info", code, message }, null);
  }

  /** Stops the reply that is being written. */
  stop(): void {
    const draft = this.chat.value.draft;
    if (draft) this.connection.cancel(draft.turn);
  }

  /** Tries the door with what was pasted; false when that can't be a token. */
  useToken(text: string): boolean {
    const token = cleanToken(text);
    if (token === null) return false;
    this.#token.set(token);
    this.#pasted = true;
    this.door.set("untried");
    this.connection.restart();
    return true;
  }

  #send(text: string, pictures: readonly Picture[]): boolean {
    const id = this.connection.send(pictures.length > 0 ? { text, images: pictures.map(onWire) } : { text });
    if (id === null) return false;
    this.#store.sending(id, text, pictures);
    this.#painter.flush();
    return true;
  }

  #frame(frame: ServerFrame, ownId: string | null): void {
    this.#store.apply(frame, ownId);
    this.performer.apply(frame);
    this.questions.apply(frame);
    this.attention.apply(frame);
    switch (frame.type) {
      case "welcome":
        this.limits.set(frame.limits);
        if (frame.settings) this.#settings(frame.settings.values);
        return this.#state(frame);
      case "state":
        return this.#state(frame);
      case "settings":
        return this.#settings(frame.values);
      default:
        return undefined;
    }
  }

  #settings(values: Readonly<Record<string, unknown>>): void {
    this.providers.set(providersIn(values));
    this.chatProvider.set(chatProviderIn(values));
  }

  #state(frame: Extract<ServerFrame, { type: "welcome" | "state" }>): void {
    this.server.set({ state: frame.state, detail: frame.detail ?? null, guide: frame.guide ?? null });
  }
}
