import type { Cancel, Clock } from "../lib/clock.js";
import { Signal } from "../lib/signal.js";
import {
  PROTOCOL_VERSION,
  parseFrame,
  type ClientFrame,
  type ClientFrameOf,
  type Locale,
  type ServerFrame,
  type ServerFrameOf,
} from "../protocol/index.js";
import { retryDelay } from "./backoff.js";
import { Outbox } from "./outbox.js";
import { RequestError, Requests, type AnswerTo, type RequestOf, type RequestType } from "./requests.js";
import type { ResumePoint } from "./resume-point.js";
import { TurnFilter } from "./turns.js";

const SILENCE_MS = 40_000;
const WELCOME_MS = 10_000;
const ANSWER_MS = 20_000;
/** A replay comes at once; a visitor's has gaps, so that its last number may never show. */
const REPLAY_MS = 3_000;
/** A connection that lived at least so long was a good one: the next try comes quickly again. */
const STEADY_MS = 5_000;

export interface Socket {
  onopen: (() => void) | null;
  onmessage: ((data: unknown) => void) | null;
  onclose: (() => void) | null;
  send(data: string): void;
  close(): void;
}

/** `refused`: the server is there, but wants a token that we don't have. */
export type Phase = "connecting" | "online" | "offline" | "refused";

export interface Status {
  readonly phase: Phase;
  /** Clock time of the next try, while `offline`. */
  readonly retryAt: number | null;
  /** Nothing has come of the page's first try yet. */
  readonly first: boolean;
}

export interface Surroundings {
  readonly clock: Clock;
  readonly random: () => number;
  readonly idPrefix: string;
  openSocket(): Socket;
  locale(): Locale;
  /** Why a handshake may have failed. */
  diagnose(): Promise<"unreachable" | "token-needed" | "reachable">;
  loadResumePoint(): ResumePoint | null;
  saveResumePoint(point: ResumePoint): void;
}

export interface Listener {
  /** `ownId`: the message of ours that this `turn.start` or `error` answers. */
  frame(frame: ServerFrame, ownId: string | null): void;
  /** The chat as the server has it; `arrived` are own messages whose answer was missed but which are in it. */
  history(chat: ServerFrameOf<"chat">, arrived: readonly string[]): void;
  /** Own messages of which nobody can say whether they arrived. */
  undelivered(ids: readonly string[]): void;
}

/**
 * The page's one line to the server: says hello, resumes after a loss, keeps what was not acknowledged, and
 * lets only frames through that belong to the current turn. Knows no DOM and no real clock.
 */
export class Connection {
  readonly status = new Signal<Status>({ phase: "connecting", retryAt: null, first: true });

  readonly #requests: Requests;
  readonly #outbox = new Outbox();
  readonly #turns = new TurnFilter();
  #started = false;
  #socket: Socket | null = null;
  #session: string | null;
  #lastSeq: number;
  #newestAtWelcome = 0;
  #failures = 0;
  #onlineSince = 0;
  #lastFrameAt = 0;
  #hasHistory = false;
  /** The newest missed frame's number while a replay runs; then nothing waits to be sent again. */
  #replayUntil: number | null = null;
  #settled = false;
  #stopTimer: Cancel = () => undefined;
  #stopReplayTimer: Cancel = () => undefined;
  #ids = 0;

  constructor(
    private readonly around: Surroundings,
    private readonly listener: Listener,
  ) {
    this.#requests = new Requests(around.clock, () => this.#nextId());
    const point = around.loadResumePoint();
    this.#session = point?.session ?? null;
    this.#lastSeq = point?.seq ?? 0;
  }

  start(): void {
    this.#started = true;
    if (!this.#socket) this.#connect();
  }

  /** Tries at once: the network is back, the page became visible, or a token arrived. */
  wake(): void {
    if (!this.#started) return;
    if (this.#socket) this.#checkSilence();
    else this.#connect();
  }

  /** A new connection to the same session, for a `hello` that says something else. */
  restart(): void {
    if (!this.#started) return;
    this.#drop();
    this.#connect();
  }

  stop(): void {
    this.#started = false;
    this.#drop();
    this.#stopTimer();
  }

  /** Rejects with {@link RequestError}. */
  request<T extends RequestType>(request: RequestOf<T>, timeoutMs = ANSWER_MS): Promise<AnswerTo<T>> {
    if (this.status.value.phase !== "online") return Promise.reject(new RequestError("offline"));
    return this.#requests.ask<T>(request, (frame) => this.#post(frame), timeoutMs);
  }

  /** Sends a message now or as soon as it can be; null when too many wait already. */
  send(message: Omit<ClientFrameOf<"send">, "id" | "type">): string | null {
    const id = this.#nextId();
    if (!this.#outbox.add({ ...message, type: "send", id })) return null;
    if (this.#settled) this.#post(this.#outbox.takeAll().find((frame) => frame.id === id));
    return id;
  }

  cancel(turn: number): void {
    if (this.status.value.phase === "online") this.#post({ type: "cancel", turn });
  }

  #nextId(): string {
    return `${this.around.idPrefix}-${++this.#ids}`;
  }

  #post(frame: ClientFrame | undefined): void {
    if (frame) this.#socket?.send(JSON.stringify(frame));
  }

  #connect(): void {
    this.#stopTimer();
    const { first, phase } = this.status.value;
    this.status.set({ phase: phase === "refused" ? "refused" : "connecting", retryAt: null, first });
    const socket = this.around.openSocket();
    this.#socket = socket;
    socket.onopen = () => this.#post(this.#hello());
    socket.onmessage = (data) => this.#receive(data);
    socket.onclose = () => this.#lost();
    this.#stopTimer = this.around.clock.after(WELCOME_MS, () => this.#lost());
  }

  /** The number up to which this page has everything. */
  get #reached(): number {
    return this.#lastSeq || this.#newestAtWelcome;
  }

  #hello(): ClientFrame {
    const resume = this.#session === null ? {} : { session: this.#session, last_seq: this.#reached };
    return { type: "hello", protocol: PROTOCOL_VERSION, ...resume, locale: this.around.locale(), client: "page" };
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = null;
    this.#settled = false;
    this.#replayUntil = null;
    this.#stopReplayTimer();
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    this.#requests.abandonAll();
  }

  #lost(): void {
    const { phase } = this.status.value;
    const { clock, random } = this.around;
    const neverWelcomed = phase !== "online";
    this.#drop();
    this.#stopTimer();
    if (!neverWelcomed && clock.now() - this.#onlineSince >= STEADY_MS) this.#failures = 0;
    const delay = retryDelay(this.#failures++, random);
    this.#stopTimer = clock.after(delay, () => this.#connect());
    this.status.set({ phase: phase === "refused" ? "refused" : "offline", retryAt: clock.now() + delay, first: false });
    if (neverWelcomed) void this.#diagnose();
  }

  async #diagnose(): Promise<void> {
    const reason = await this.around.diagnose();
    const { phase, ...rest } = this.status.value;
    if (phase === "online") return;
    if (reason === "token-needed") this.status.set({ ...rest, phase: "refused" });
    else if (phase === "refused") this.status.set({ ...rest, phase: this.#socket ? "connecting" : "offline" });
  }

  #checkSilence(): void {
    if (this.status.value.phase !== "online") return;
    this.#stopTimer();
    const left = this.#lastFrameAt + SILENCE_MS - this.around.clock.now();
    if (left <= 0) this.#lost();
    else this.#stopTimer = this.around.clock.after(left, () => this.#checkSilence());
  }

  #receive(data: unknown): void {
    this.#lastFrameAt = this.around.clock.now();
    const frame = parseFrame(data);
    if (!frame || frame.type === "ping") return;
    if (frame.type === "welcome") return this.#welcome(frame);
    if (frame.seq !== undefined) {
      if (frame.seq <= this.#lastSeq) return;
      this.#lastSeq = frame.seq;
    }
    if (!this.#requests.settle(frame) && this.#turns.admits(frame)) {
      this.listener.frame(frame, this.#ownMessage(frame));
    }
    if (frame.seq !== undefined) this.#rememberPoint(frame);
    if (this.#replayUntil !== null && this.#lastSeq >= this.#replayUntil) this.#replayed();
  }

  #ownMessage(frame: ServerFrame): string | null {
    if (frame.type === "turn.start") return this.#outbox.acknowledge(frame, !this.#settled);
    if (frame.type === "error") return this.#outbox.refuse(frame.re);
    return null;
  }

  #welcome(frame: ServerFrameOf<"welcome">): void {
    const { clock } = this.around;
    const newest = frame.seq ?? 0;
    if (!frame.resumed) {
      // A turn that runs is replayed from its start, below the newest number.
      this.#lastSeq = 0;
      this.#turns.forget();
    }
    this.#newestAtWelcome = newest;
    this.#session = frame.session;
    this.#onlineSince = clock.now();
    this.#stopTimer();
    this.#stopTimer = clock.after(SILENCE_MS, () => this.#checkSilence());
    this.#replayUntil = frame.resumed ? newest : null;
    this.status.set({ phase: "online", retryAt: null, first: false });
    this.listener.frame(frame, null);
    if (!this.#turns.running) this.around.saveResumePoint({ session: frame.session, seq: this.#reached });
    if (!frame.resumed || !this.#hasHistory) void this.#readHistory(frame.resumed);
    if (!frame.resumed) return;
    if (this.#lastSeq >= newest) this.#replayed();
    else this.#stopReplayTimer = clock.after(REPLAY_MS, () => this.#replayed());
  }

  #replayed(): void {
    this.#replayUntil = null;
    this.#stopReplayTimer();
    this.#flush();
  }

  async #readHistory(resumed: boolean): Promise<void> {
    const socket = this.#socket;
    try {
      const chat = await this.request<"chat.history">({ type: "chat.history" });
      this.#hasHistory = true;
      this.listener.history(chat, this.#outbox.reconcile(chat.messages));
    } catch {
      if (socket !== this.#socket) return;
      if (!resumed) this.listener.undelivered(this.#outbox.dropAttempted());
    }
    if (!resumed && socket === this.#socket) this.#flush();
  }

  #flush(): void {
    this.#settled = true;
    for (const frame of this.#outbox.takeAll()) this.#post(frame);
  }

  /** A reload in the middle of a turn wants the turn from its beginning. */
  #rememberPoint(frame: ServerFrame): void {
    if (this.#session === null) return;
    if (frame.type === "turn.start") this.around.saveResumePoint({ session: this.#session, seq: this.#lastSeq - 1 });
    else if (!this.#turns.running) this.around.saveResumePoint({ session: this.#session, seq: this.#lastSeq });
  }
}
