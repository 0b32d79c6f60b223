import { beforeEach, expect, it } from "vitest";

import type { ServerFrame } from "../../src/protocol/index.js";
import { Performer } from "../../src/stage/performer.js";
import { FakeClock } from "../fakes/clock.js";
import { WELCOME } from "../fakes/server.js";

let clock: FakeClock;
let performer: Performer;

beforeEach(() => {
  clock = new FakeClock();
  performer = new Performer(clock);
});

const take = (...frames: ServerFrame[]) => frames.forEach((frame) => performer.apply(frame));
const start: ServerFrame = { type: "turn.start", turn: 1, message_id: "u1", origin: "user" };
const talk: ServerFrame = { type: "motion", turn: 1, motion: "talk" };
const nod: ServerFrame = { type: "motion", turn: 1, motion: "nod" };
const shake: ServerFrame = { type: "motion", turn: 1, motion: "shake" };
const smile: ServerFrame = { type: "expression", turn: 1, expression: "smile", hold_ms: 4_000 };
const stopped: ServerFrame = { type: "turn.cancelled", turn: 1, text: "" };
const failed: ServerFrame = { type: "turn.error", turn: 1, code: "internal", message: "", retryable: false };

it("thinks until the first words, talks until the turn ends", () => {
  take(start);
  expect(performer.pose.value.state).toBe("thinking");
  take(talk);
  expect(performer.pose.value.state).toBe("talking");
  clock.advance(120_000);
  expect(performer.pose.value.state).toBe("talking");
  take(stopped);
  expect(performer.pose.value.state).toBe("idle");
});

it("stops talking when the turn fails", () => {
  take(start, talk, failed);
  expect(performer.pose.value.state).toBe("idle");
});

it("gestures over the talk, and goes on talking", () => {
  take(start, talk, nod);
  expect(performer.pose.value).toMatchObject({ state: "talking", gesture: "nod" });
  clock.advance(2_000);
  expect(performer.pose.value).toMatchObject({ state: "talking", gesture: null });
});

it("lets a new gesture replace the old one, and gives it its full time", () => {
  take(nod);
  clock.advance(500);
  take(shake);
  clock.advance(500);
  expect(performer.pose.value.gesture).toBe("shake");
});

it("returns to a neutral face by itself, also after the turn", () => {
  take(start, smile, stopped);
  clock.advance(3_999);
  expect(performer.pose.value.expression).toBe("smile");
  clock.advance(1);
  expect(performer.pose.value.expression).toBeNull();
});

it("holds a newer expression for its own time", () => {
  take(smile);
  clock.advance(3_000);
  take({ type: "expression", turn: 1, expression: "tears", hold_ms: 4_000 });
  clock.advance(3_000);
  expect(performer.pose.value.expression).toBe("tears");
});

it("leaves nothing stuck when the connection goes or the session is new", () => {
  take(start, talk);
  performer.rest();
  expect(performer.pose.value.state).toBe("idle");
  take(start, talk, WELCOME);
  expect(performer.pose.value.state).toBe("idle");
});
