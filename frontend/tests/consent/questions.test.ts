import { beforeEach, describe, expect, it } from "vitest";

import { Questions } from "../../src/consent/questions.js";
import type { ServerFrame } from "../../src/protocol/index.js";
import { FakeClock } from "../fakes/clock.js";
import { WELCOME } from "../fakes/server.js";

let clock: FakeClock;
let questions: Questions;

beforeEach(() => {
  clock = new FakeClock();
  questions = new Questions(clock);
});

const take = (...frames: ServerFrame[]) => frames.forEach((frame) => questions.apply(frame));
const open = () => questions.open.value.map(({ id }) => id);
const tool = (type: "start" | "end", call_id: string, name: string, step = 1): ServerFrame =>
  type === "start"
    ? { type: "tool.start", turn: 1, step, call_id, name }
    : { type: "tool.end", turn: 1, step, call_id, name, outcome: "ok", ms: 1 };
const asked = (consent_id = "q"): ServerFrame => ({
  type: "consent.request", turn: 1, consent_id, capability: "screenshot", detail: "monitor 1",
});
const shot = tool("start", "a", "vision__screen_shot");
const search = tool("start", "b", "tool__web_search");

describe("a question", () => {
  it("waits with what it is about and until when", () => {
    take(shot, asked());
    expect(questions.open.value).toMatchObject([{ id: "q", capability: "screenshot", detail: "monitor 1", until: clock.now() + 30_000 }]);
  });

  it("goes when it was answered here", () => {
    take(shot, asked());
    questions.close("q");
    expect(open()).toEqual([]);
  });

  it("goes when its time is up", () => {
    take(shot, asked());
    clock.advance(29_999);
    expect(open()).toEqual(["q"]);
    clock.advance(1);
    expect(open()).toEqual([]);
  });

  it("stays while other calls of its step come and go", () => {
    take(shot, search, asked(), tool("end", "b", "tool__web_search"), tool("start", "c", "tool__web_fetch"));
    expect(open()).toEqual(["q"]);
  });

  it("goes when the call that asked has ended: it was answered elsewhere", () => {
    take(shot, search, asked(), tool("end", "a", "vision__screen_shot"));
    expect(open()).toEqual([]);
  });

  it("of a tool with another name goes when all that could have asked have ended", () => {
    take(tool("start", "a", "my__look"), search, asked(), tool("end", "b", "tool__web_search"));
    expect(open()).toEqual(["q"]);
    take(tool("end", "a", "my__look"));
    expect(open()).toEqual([]);
  });

  it("goes when the next step begins", () => {
    take(asked(), tool("start", "c", "tool__web_fetch", 2));
    expect(open()).toEqual([]);
  });

  it.each<ServerFrame>([
    { type: "delta", turn: 1, text: "So" },
    { type: "vision", turn: 1, images: 1, outcome: "ok", ms: 1 },
    { type: "turn.cancelled", turn: 1, text: "" },
    { type: "turn.error", turn: 1, code: "internal", message: "", retryable: false },
    { type: "turn.start", turn: 2, message_id: "m", origin: "user" },
    WELCOME,
  ])("goes with $type", (frame) => {
    take(shot, asked(), frame);
    expect(open()).toEqual([]);
  });

  it("stays over a short loss of the connection and over a waiting line", () => {
    take(shot, asked(), { ...WELCOME, resumed: true }, { type: "waiting", turn: 1, text: "Hm." });
    expect(open()).toEqual(["q"]);
  });

  it("that is told again stands there once", () => {
    take(shot, asked(), asked());
    expect(open()).toEqual(["q"]);
    clock.advance(30_000);
    expect(open()).toEqual([]);
  });
});
