import type { Cancel, Clock } from "../lib/clock.js";
import type { ClientFrame, ClientFrameOf, ErrorCode, ServerFrame, ServerFrameOf } from "../protocol/index.js";

/** Which frame answers which request. */
interface Answers {
  status: "status";
  "models.list": "models";
  "models.select": "ok";
  "provider.test": "provider.tested";
  "settings.get": "settings";
  "settings.update": "settings";
  "chat.history": "chat";
  "chat.clear": "chat";
  "consent.answer": "ok";
  "context.update": "ok";
  "avatar.touch": "ok";
}

export type RequestType = keyof Answers;
export type RequestOf<T extends RequestType> = Omit<ClientFrameOf<T>, "id">;
export type AnswerTo<T extends RequestType> = ServerFrameOf<Answers[T]>;

/** `offline` and `timeout` are the page's own; the rest is what the server said. */
export type FailureCode = ErrorCode | "offline" | "timeout";

export class RequestError extends Error {
  constructor(
    readonly code: FailureCode,
    message = "",
  ) {
    super(message || code);
  }
}

interface Waiting {
  resolve(frame: ServerFrame): void;
  reject(error: RequestError): void;
  cancelTimer: Cancel;
}

/** Requests that wait for the one frame that carries their id as `re`. */
export class Requests {
  readonly #waiting = new Map<string, Waiting>();

  constructor(
    private readonly clock: Clock,
    private readonly nextId: () => string,
  ) {}

  /** Sends `request` with an id of its own; rejects with {@link RequestError}. */
  ask<T extends RequestType>(
    request: RequestOf<T>,
    send: (frame: ClientFrame) => void,
    timeoutMs: number,
  ): Promise<AnswerTo<T>> {
    const id = this.nextId();
    return new Promise((resolve, reject) => {
      const cancelTimer = this.clock.after(timeoutMs, () => {
        this.#waiting.delete(id);
        reject(new RequestError("timeout"));
      });
      this.#waiting.set(id, { resolve: (frame) => resolve(frame as AnswerTo<T>), reject, cancelTimer });
      send({ ...request, id } as ClientFrame);
    });
  }

  /** True when `frame` answered a request. */
  settle(frame: ServerFrame): boolean {
    const waiting = frame.re === undefined ? undefined : this.#waiting.get(frame.re);
    if (frame.re === undefined || !waiting) return false;
    this.#waiting.delete(frame.re);
    waiting.cancelTimer();
    if (frame.type === "error") waiting.reject(new RequestError(frame.code, frame.message));
    else waiting.resolve(frame);
    return true;
  }

  abandonAll(): void {
    for (const waiting of this.#waiting.values()) {
      waiting.cancelTimer();
      waiting.reject(new RequestError("offline"));
    }
    this.#waiting.clear();
  }
}
