import { beforeEach, expect, it } from "vitest";

import { askedLast, lastOwn } from "../../src/chat/anew.js";
import { messageFrom } from "../../src/chat/history.js";
import type { Chat, Message } from "../../src/chat/model.js";
import { EMPTY_CHAT } from "../../src/chat/model.js";

let question: Message;
let reply: Message;

beforeEach(() => {
  const stored = { at: "2026-01-01T00:00:00Z", interrupted: false, images: 0, origin: "user" as const };
  question = messageFrom({ ...stored, id: "u1", role: "user", text: "Why?" });
  reply = messageFrom({ ...stored, id: "a1", role: "assistant", text: "So." });
});

const chat = (...entries: Message[]): Chat => ({ ...EMPTY_CHAT, entries });

it("asks once more what the newest reply answered", () => {
  expect(askedLast(chat(question, reply))).toBe(question);
  expect(askedLast(chat(question, { ...reply, state: "interrupted" }))).toBe(question);
});

it("doesn't while there is no reply, one is being written, or the companion spoke first", () => {
  expect(askedLast(EMPTY_CHAT)).toBeNull();
  expect(askedLast(chat(question))).toBeNull();
  expect(askedLast(chat(question, { ...reply, origin: "nudge" }))).toBeNull();
  const draft = { turn: 2, text: "", reasoning: "", origin: "user" as const, path: null, activity: null, waiting: null };
  expect(askedLast({ ...chat(question, reply), draft })).toBeNull();
});

it("doesn't ask without the pictures that belonged to the question", () => {
  expect(askedLast(chat({ ...question, images: 1 }, reply))).toBeNull();
});

it("edits the newest own message, once it has arrived", () => {
  expect(lastOwn([question, reply])).toBe(question);
  expect(lastOwn([question, reply, { ...question, key: "u2", state: "waiting" }])).toBeNull();
  expect(lastOwn([reply])).toBeNull();
});
