import { beforeEach, expect, it } from "vitest";

import { Attention, type Caller, type Occasion } from "../../src/attention/attention.js";
import { safeStorage, type TextStorage } from "../../src/lib/storage.js";
import type { ServerFrame } from "../../src/protocol/index.js";

let hidden: boolean;
let permission: ReturnType<Caller["permission"]>;
let calls: Occasion[];
let requests: number;
let storage: TextStorage;
let attention: Attention;

const caller: Caller = {
  hidden: () => hidden,
  permission: () => permission,
  request: async () => {
    requests++;
    permission = "granted";
  },
  call: (occasion) => calls.push(occasion),
  quiet: () => calls.splice(0),
};

beforeEach(() => {
  hidden = true;
  permission = "default";
  calls = [];
  requests = 0;
  storage = safeStorage(() => {
    throw new DOMException("denied", "SecurityError");
  });
  attention = new Attention(caller, storage);
});

const done = (total_ms: number): ServerFrame => ({
  type: "turn.done", turn: 1, message_id: "a1", text: "So.", finish_reason: "stop", usage: {}, timing: { total_ms, tool_ms: 0 }, memories: [],
});
const question: ServerFrame = { type: "consent.request", turn: 1, consent_id: "c1", capability: "screenshot", detail: "" };
const failure: ServerFrame = { type: "turn.error", turn: 1, code: "internal", message: "No.", retryable: false };

it("counts what came in while nobody looked, until somebody does", () => {
  for (const frame of [done(1), question, failure]) attention.apply(frame);
  attention.apply({ type: "delta", turn: 1, text: "x" });
  expect(attention.unread.value).toBe(3);
  attention.seen();
  expect(attention.unread.value).toBe(0);
  hidden = false;
  attention.apply(done(1));
  expect(attention.unread.value).toBe(0);
});

it("offers to call after the first long wait elsewhere, and only once", async () => {
  attention.apply(question);
  attention.apply(done(9_000));
  expect(attention.offers.value).toBe(false);
  hidden = false;
  attention.apply(done(60_000));
  expect(attention.offers.value).toBe(false);
  hidden = true;
  attention.apply(done(10_000));
  expect([attention.offers.value, calls, requests]).toEqual([true, [], 0]);
  await attention.answer(false);
  attention.apply(done(60_000));
  expect([attention.offers.value, requests]).toEqual([false, 0]);
  new Attention(caller, storage).apply(done(60_000));
  expect(calls).toEqual([]);
});

it("calls whoever said yes, and takes it back when they look", async () => {
  await attention.answer(true);
  expect(requests).toBe(1);
  for (const frame of [done(1), question, failure]) attention.apply(frame);
  expect(calls).toEqual(["replied", "asks", "failed"]);
  attention.seen();
  expect(calls).toEqual([]);
});

it.each(["denied", "unsupported"] as const)("offers nothing where notifications are %s", (is) => {
  permission = is;
  attention.apply(done(60_000));
  expect(attention.offers.value).toBe(false);
});
