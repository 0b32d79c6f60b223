import { beforeEach, describe, expect, it } from "vitest";

import type { Line, Message } from "../../src/chat/model.js";
import { ChatStore } from "../../src/chat/store.js";
import type { ServerFrame } from "../../src/protocol/index.js";
import { WELCOME, reply, userMessage } from "../fakes/server.js";

let store: ChatStore;

beforeEach(() => {
  store = new ChatStore();
});

const take = (...frames: ServerFrame[]) => frames.forEach((frame) => store.apply(frame, null));
const messages = () => store.chat.value.entries.filter((entry): entry is Message => entry.kind === "message");
const lines = () => store.chat.value.entries.filter((entry): entry is Line => entry.kind === "line");
const shown = () => messages().map(({ role, text, state }) => [role, text, state]);

const start = (turn: number, text?: string, origin: "user" | "nudge" = "user"): ServerFrame => ({
  type: "turn.start",
  turn,
  message_id: `u${turn}`,
  origin,
  ...(text === undefined ? {} : { text }),
});
const delta = (turn: number, text: string): ServerFrame => ({ type: "delta", turn, text });
const done = (turn: number, text: string): ServerFrame => ({
  type: "turn.done",
  turn,
  message_id: `a${turn}`,
  text,
  finish_reason: "stop",
  usage: {},
  timing: { total_ms: 1, tool_ms: 0 },
  memories: [],
});
const failure = (turn: number, retryable = true): ServerFrame => ({
  type: "turn.error",
  turn,
  code: "stream_interrupted",
  message: "It broke off.",
  hint: "Try again.",
  retryable,
});

describe("a turn", () => {
  it("is a question, a draft apart from it, then a reply", () => {
    store.sending("p-1", "hi");
    expect(shown()).toEqual([["user", "hi", "waiting"]]);
    store.apply(start(1, "hi"), "p-1");
    take(delta(1, "Hel"), delta(1, "lo"));
    expect(shown()).toEqual([["user", "hi", "done"]]);
    expect(store.chat.value.draft?.text).toBe("Hello");
    take(done(1, "Hello"));
    expect(store.chat.value.draft).toBeNull();
    expect(shown()).toEqual([["user", "hi", "done"], ["assistant", "Hello", "done"]]);
  });

  it("ends with the text that the server says it has", () => {
    take(start(1, "hi"), delta(1, "Helo"), done(1, "Hello!"));
    expect(messages()[1]?.text).toBe("Hello!");
  });

  it("of another tab shows its question too", () => {
    take(start(1, "from the other tab"), delta(1, "ok"));
    expect(shown()).toEqual([["user", "from the other tab", "done"]]);
  });

  it("that the companion began has no question", () => {
    take(start(1, undefined, "nudge"), delta(1, "You have been at it for long."), done(1, "You have been at it for long."));
    expect(messages()).toMatchObject([{ role: "assistant", origin: "nudge" }]);
  });

  it("keeps its thinking apart from its reply", () => {
    take(start(1, "hi"), { type: "reasoning", turn: 1, text: "Hm." }, delta(1, "Yes"), done(1, "Yes"));
    expect(messages()[1]).toMatchObject({ text: "Yes", reasoning: "Hm." });
  });

  it("that was stopped keeps what was shown, and says so", () => {
    take(start(1, "hi"), delta(1, "Hel"), { type: "turn.cancelled", turn: 1, text: "Hel" });
    expect(shown()[1]).toEqual(["assistant", "Hel", "interrupted"]);
  });

  it("that was stopped before its first word leaves no empty bubble", () => {
    take(start(1, "hi"), { type: "turn.cancelled", turn: 1, text: "" });
    expect(shown()).toEqual([["user", "hi", "done"]]);
    expect(store.chat.value.draft).toBeNull();
  });

  it("whose beginning was missed is shown from where it was met", () => {
    take(delta(7, "…the rest"), done(7, "All of the rest"));
    expect(shown()).toEqual([["assistant", "All of the rest", "done"]]);
  });

  it("gathers its finished sentences, anew for each turn", () => {
    take(start(1, "hi"), { type: "sentence", turn: 1, index: 0, text: "Hello." }, done(1, "Hello."));
    expect(store.chat.value.sentences).toEqual(["Hello."]);
    take(start(2, "more"));
    expect(store.chat.value.sentences).toEqual([]);
  });
});

describe("what a turn does besides talking", () => {
  const search = (outcome?: "ok"): ServerFrame =>
    outcome === undefined
      ? { type: "tool.start", turn: 1, step: 1, call_id: "a", name: "tool__web_search" }
      : { type: "tool.end", turn: 1, step: 1, call_id: "a", name: "tool__web_search", outcome, ms: 1200 };
  const outcomes = (entry: { activity: { calls: readonly { outcome: string }[] } | null } | undefined) =>
    entry?.activity?.calls.map(({ outcome }) => outcome);

  it("shows as it happens, and stays with the reply", () => {
    take(start(1, "hi"), search());
    expect(outcomes(store.chat.value.draft ?? undefined)).toEqual(["running"]);
    take(search("ok"), delta(1, "Found"), done(1, "Found"));
    expect(outcomes(messages()[1])).toEqual(["ok"]);
    store.history([userMessage("u1", "hi"), reply("a1", "Found")], []);
    expect(outcomes(messages()[1])).toEqual(["ok"]);
  });

  it("stays although nothing was said", () => {
    take(start(1, "hi"), search(), failure(1));
    expect(store.chat.value.entries.map(({ kind }) => kind)).toEqual(["message", "deeds", "line"]);
    take(start(2, "hi"), { type: "tool.start", turn: 2, step: 1, call_id: "a", name: "x" }, { type: "turn.cancelled", turn: 2, text: "" });
    const last = store.chat.value.entries.at(-1);
    expect(last?.kind === "deeds" && outcomes(last)).toEqual(["cancelled"]);
  });

  it("is told with its cost", () => {
    const usage = { chat: { prompt: 10, completion: 2 } };
    take(start(1, "hi"), { type: "turn.route", turn: 1, path: "both", reasons: [] }, { ...done(1, "Yes"), usage } as ServerFrame);
    expect(messages()[1]?.cost).toEqual({ path: "both", usage, timing: { total_ms: 1, tool_ms: 0 } });
  });

  it("has lines to wait with, which are no part of the reply and go with its first word", () => {
    take(start(1, "hi"), { type: "waiting", turn: 1, text: "Hm…" });
    expect(store.chat.value.draft).toMatchObject({ waiting: "Hm…", text: "" });
    take(delta(1, "So"));
    expect(store.chat.value.draft).toMatchObject({ waiting: null, text: "So" });
    take({ type: "waiting", turn: 1, text: "too late" }, done(1, "So"));
    expect(shown()).toEqual([["user", "hi", "done"], ["assistant", "So", "done"]]);
  });
});

describe("pictures", () => {
  const picture = { name: "a.png", mime: "image/png", data: "AAAA", bytes: 3, width: 1, height: 1 } as const;

  it("stay with their message, also over a new history", () => {
    store.sending("p-1", "look", [picture]);
    store.apply(start(1, "look"), "p-1");
    store.history([{ ...userMessage("u1", "look"), images: 1 }], []);
    expect(messages()[0]).toMatchObject({ images: 1, pictures: [picture] });
  });

  it("go out again with what is tried again", () => {
    store.sending("p-1", "look", [picture]);
    store.apply(start(1, "look"), "p-1");
    take(failure(1));
    expect(store.picturesOf(lines()[0]?.key ?? "")).toEqual([picture]);
    take(start(2, "look"), failure(2));
    expect(store.picturesOf(lines()[1]?.key ?? "")).toEqual([]);
  });

  it("of older days are only counted", () => {
    store.history([{ ...userMessage("u1", "look"), images: 2 }], []);
    expect(messages()[0]).toMatchObject({ images: 2, pictures: [] });
  });
});

describe("what goes wrong", () => {
  it("keeps what was said, and tells what happened with a way to try again", () => {
    take(start(1, "hi"), delta(1, "Hel"), failure(1));
    expect(shown()[1]).toEqual(["assistant", "Hel", "interrupted"]);
    expect(lines()).toMatchObject([{ level: "error", text: "It broke off.", hint: "Try again.", retry: "hi" }]);
  });

  it("offers no second try where it would fail again", () => {
    take(start(1, "hi"), failure(1, false));
    expect(lines()[0]?.retry).toBeNull();
  });

  it("marks the message that the server refused", () => {
    store.sending("p-1", "hi");
    store.apply({ type: "error", code: "rate_limited", message: "Slowly.", re: "p-1" }, "p-1");
    expect(shown()).toEqual([["user", "hi", "refused"]]);
    expect(lines()[0]?.text).toBe("Slowly.");
  });

  it("marks the message of which nobody can say whether it arrived", () => {
    store.sending("p-1", "hi");
    store.undelivered(["p-1"]);
    expect(shown()).toEqual([["user", "hi", "unsure"]]);
  });

  it("shows notices as lines of the system, never as words of the character", () => {
    take({ type: "notice", level: "warning", code: "x", message: "The prompt was cut." });
    expect(messages()).toEqual([]);
    expect(lines()).toMatchObject([{ level: "warning", text: "The prompt was cut." }]);
  });
});

describe("the history", () => {
  it("fills an empty page", () => {
    take(WELCOME);
    store.history([userMessage("u1", "hi"), reply("a1", "Hel", true)], []);
    expect(shown()).toEqual([["user", "hi", "done"], ["assistant", "Hel", "interrupted"]]);
  });

  it("comes after a replayed turn without doubling it", () => {
    take({ ...WELCOME, resumed: true }, start(1, "hi"), delta(1, "Hello"), done(1, "Hello"));
    store.history([userMessage("u0", "before"), reply("a0", "yes"), userMessage("u1", "hi"), reply("a1", "Hello")], []);
    expect(shown().map(([, text]) => text)).toEqual(["before", "yes", "hi", "Hello"]);
  });

  it("leaves the running reply to the draft, although a part of it is stored", () => {
    take(WELCOME, start(1, "hi"), delta(1, "Hello th"));
    store.history([userMessage("u1", "hi"), reply("a1", "Hello", true)], []);
    expect(shown()).toEqual([["user", "hi", "done"]]);
    take(delta(1, "ere"), done(1, "Hello there"));
    expect(shown()[1]).toEqual(["assistant", "Hello there", "done"]);
  });

  it("completes a reply of which only a part was stored", () => {
    take(WELCOME);
    store.history([userMessage("u1", "hi"), reply("a1", "Hello", true)], []);
    take(delta(1, "ere"), done(1, "Hello there"));
    expect(shown()).toEqual([["user", "hi", "done"], ["assistant", "Hello there", "done"]]);
  });

  it("keeps messages that are still on their way, at the end", () => {
    store.sending("p-1", "new");
    take(WELCOME);
    store.history([userMessage("u1", "old")], []);
    expect(shown()).toEqual([["user", "old", "done"], ["user", "new", "waiting"]]);
  });

  it("takes the place of own messages that it shows to have arrived", () => {
    store.sending("p-1", "hi");
    take(WELCOME);
    store.history([userMessage("u1", "hi")], ["p-1"]);
    expect(shown()).toEqual([["user", "hi", "done"]]);
  });

  it("forgets a draft of which the rest was missed", () => {
    take(start(1, "hi"), delta(1, "Hel"), WELCOME);
    expect(store.chat.value.draft).toBeNull();
  });

  it("keeps a draft that is resumed", () => {
    take(start(1, "hi"), delta(1, "Hel"), { ...WELCOME, resumed: true }, delta(1, "lo"));
    expect(store.chat.value.draft?.text).toBe("Hello");
  });

  it("is emptied where another client cleared the chat", () => {
    take(start(1, "hi"), done(1, "Hello"), { type: "chat", messages: [] });
    expect(store.chat.value.entries).toEqual([]);
  });
});

it("gives every entry a key of its own", () => {
  store.sending("p-1", "a");
  take(start(1, "b"), delta(1, "x"), failure(1), start(2, "c"), done(2, "d"), { type: "say", text: "s", source: "ci" });
  const keys = store.chat.value.entries.map((entry) => entry.key);
  expect(new Set(keys).size).toBe(keys.length);
});

describe("a long history", () => {
  const stored = (first: number, count: number) =>
    Array.from({ length: count }, (_, index) => userMessage(`u${first + index}`, `text ${first + index}`));
  const first = () => store.chat.value.entries[0]?.key;

  it("is read further up page by page, until there is no more", () => {
    store.history(stored(300, 200), []);
    expect(store.chat.value.more).toBe(true);
    store.older(stored(100, 200), "u300");
    expect([first(), store.oldest(), store.chat.value.entries.length]).toEqual(["u100", "u100", 400]);
    store.older(stored(100, 200), "u300");
    expect(store.chat.value.entries).toHaveLength(400);
    store.older(stored(0, 100), "u100");
    expect([first(), store.chat.value.more, store.chat.value.entries.length]).toEqual(["u0", false, 500]);
  });

  it("keeps what was read further up when the server's newest page comes again", () => {
    store.history(stored(300, 200), []);
    store.older(stored(100, 200), "u300");
    take({ ...WELCOME, resumed: false });
    store.history(stored(302, 200), []);
    expect(store.chat.value.entries.map(({ key }) => key)).toEqual(stored(100, 402).map(({ id }) => id));
    expect(store.chat.value.more).toBe(true);
    store.history(stored(0, 3), []);
    expect(store.chat.value.more).toBe(false);
  });
});
