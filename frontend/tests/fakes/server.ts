import { Connection, type Listener, type Socket, type Surroundings } from "../../src/connection/connection.js";
import type { ResumePoint } from "../../src/connection/resume-point.js";
import type { ChatMessage, ClientFrame, ServerFrame, ServerFrameOf } from "../../src/protocol/index.js";
import { FakeClock } from "./clock.js";

type Loose<T> = T extends unknown ? Omit<T, "re" | "seq"> & { re?: string; seq?: number } : never;

/** One connection that the page opened. */
export class FakeSocket implements Socket {
  onopen: (() => void) | null = null;
  onmessage: ((data: unknown) => void) | null = null;
  onclose: (() => void) | null = null;
  readonly sent: ClientFrame[] = [];
  closed = false;

  send(data: string): void {
    this.sent.push(JSON.parse(data) as ClientFrame);
  }

  close(): void {
    this.closed = true;
  }

  open(): void {
    this.onopen?.();
  }

  say(frame: Loose<ServerFrame>): void {
    this.onmessage?.(JSON.stringify(frame));
  }

  break(): void {
    this.onclose?.();
  }

  welcome(known: Partial<ServerFrameOf<"welcome">> = {}): void {
    this.say({ ...WELCOME, ...known });
  }

  sentOf<T extends ClientFrame["type"]>(type: T): Extract<ClientFrame, { type: T }>[] {
    return this.sent.filter((frame): frame is Extract<ClientFrame, { type: T }> => frame.type === type);
  }

  /** Answers the page's question for the history. */
  async history(messages: readonly ChatMessage[] = []): Promise<void> {
    const id = this.sentOf("chat.history").at(-1)?.id;
    this.say({ type: "chat", messages, ...(id === undefined ? {} : { re: id }) });
    await settled();
  }
}

export const WELCOME: ServerFrameOf<"welcome"> = {
  type: "welcome",
  protocol: 1,
  session: "s1",
  role: "owner",
  seq: 0,
  resumed: false,
  state: "ready",
  avatar: { renderer: "auto", model: "", motions: {}, expressions: {} },
  commands: [],
  limits: { max_frame_bytes: 1, max_image_bytes: 1, max_images: 1, max_text_chars: 10, turns_per_minute: 1 },
};

/** Lets promises that are ready run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

export const userMessage = (id: string, text: string): ChatMessage => ({
  id,
  role: "user",
  text,
  at: "2026-01-01T00:00:00.000+00:00",
  interrupted: false,
  images: 0,
  origin: "user",
});

export const reply = (id: string, text: string, interrupted = false): ChatMessage => ({
  ...userMessage(id, text),
  role: "assistant",
  interrupted,
});

/** A connection with everything around it faked. */
export class Page implements Listener {
  readonly clock = new FakeClock();
  readonly sockets: FakeSocket[] = [];
  readonly frames: ServerFrame[] = [];
  readonly answered: (string | null)[] = [];
  readonly histories: { chat: ServerFrameOf<"chat">; arrived: readonly string[] }[] = [];
  readonly lostTrackOf: string[] = [];
  diagnosis: "unreachable" | "token-needed" | "reachable" = "unreachable";
  locale: "en" | "zh-CN" = "en";
  point: ResumePoint | null;
  readonly connection: Connection;

  constructor(point: ResumePoint | null = null) {
    this.point = point;
    const around: Surroundings = {
      clock: this.clock,
      random: () => 1,
      idPrefix: "p",
      openSocket: () => {
        const socket = new FakeSocket();
        this.sockets.push(socket);
        return socket;
      },
      locale: () => this.locale,
      diagnose: () => Promise.resolve(this.diagnosis),
      loadResumePoint: () => this.point,
      saveResumePoint: (saved) => (this.point = saved),
    };
    this.connection = new Connection(around, this);
  }

  get socket(): FakeSocket {
    const socket = this.sockets.at(-1);
    if (!socket) throw new Error("the page has opened no connection");
    return socket;
  }

  get phase(): string {
    return this.connection.status.value.phase;
  }

  frame(frame: ServerFrame, ownId: string | null): void {
    this.frames.push(frame);
    this.answered.push(ownId);
  }

  history(chat: ServerFrameOf<"chat">, arrived: readonly string[]): void {
    this.histories.push({ chat, arrived });
  }

  undelivered(ids: readonly string[]): void {
    this.lostTrackOf.push(...ids);
  }

  /** Opens the page and lets the server welcome it. */
  async online(known: Partial<ServerFrameOf<"welcome">> = {}): Promise<FakeSocket> {
    this.connection.start();
    this.socket.open();
    this.socket.welcome(known);
    await this.socket.history();
    return this.socket;
  }

  /** Breaks the connection and opens the next one, up to the welcome. */
  reconnect(known: Partial<ServerFrameOf<"welcome">>): FakeSocket {
    this.socket.break();
    this.clock.advance(60_000);
    this.socket.open();
    this.socket.welcome(known);
    return this.socket;
  }

  types(): string[] {
    return this.frames.map((frame) => frame.type);
  }
}
