import { describe, expect, it } from "vitest";

import { RequestError } from "../../src/connection/requests.js";
import { Page, userMessage } from "../fakes/server.js";

const start = (turn: number, text: string, re?: string) =>
  ({ type: "turn.start", turn, message_id: `u${turn}`, origin: "user", text, seq: turn, ...(re ? { re } : {}) }) as const;

describe("messages", () => {
  it("go out at once when the page is online", async () => {
    const page = new Page();
    const socket = await page.online();
    const id = page.connection.send({ text: "hi" });
    expect(socket.sentOf("send")).toEqual([{ type: "send", id, text: "hi" }]);
  });

  it("are known by the answer's re", async () => {
    const page = new Page();
    const socket = await page.online();
    const id = page.connection.send({ text: "hi" });
    socket.say(start(1, "hi", id ?? ""));
    expect(page.answered.at(-1)).toBe(id);
  });

  it("of another tab are not taken for ours, even with the same words", async () => {
    const page = new Page();
    const socket = await page.online();
    page.connection.send({ text: "hi" });
    socket.say(start(1, "hi"));
    expect(page.answered.at(-1)).toBeNull();
  });

  it("written while offline go out with the next connection", async () => {
    const page = new Page();
    await page.online();
    page.socket.break();
    page.connection.send({ text: "later" });
    page.clock.advance(1_000);
    page.socket.open();
    expect(page.socket.sentOf("send")).toHaveLength(0);
    page.socket.welcome({ resumed: true, seq: 0 });
    expect(page.socket.sentOf("send")).toMatchObject([{ text: "later" }]);
  });

  it("that were not acknowledged before a loss are sent once more", async () => {
    const page = new Page();
    await page.online();
    const id = page.connection.send({ text: "hi" });
    const next = page.reconnect({ resumed: true, seq: 0 });
    expect(next.sentOf("send")).toEqual([{ type: "send", id, text: "hi" }]);
  });

  it("that a replay shows to have arrived are not sent again", async () => {
    const page = new Page();
    await page.online();
    const id = page.connection.send({ text: "hi" });
    const next = page.reconnect({ resumed: true, seq: 2 });
    expect(next.sentOf("send")).toHaveLength(0);
    next.say(start(1, "hi"));
    next.say({ type: "delta", turn: 1, text: "Hello", seq: 2 });
    expect(next.sentOf("send")).toHaveLength(0);
    expect(page.answered).toContain(id);
  });

  it("that a replay does not show are sent when it is over", async () => {
    const page = new Page();
    await page.online();
    page.connection.send({ text: "hi" });
    const next = page.reconnect({ resumed: true, seq: 1 });
    next.say(start(1, "something else"));
    expect(next.sentOf("send")).toMatchObject([{ text: "hi" }]);
  });

  it("are not held back for ever by a replay with gaps", async () => {
    const page = new Page();
    await page.online();
    page.connection.send({ text: "hi" });
    const next = page.reconnect({ resumed: true, seq: 5 });
    page.clock.advance(3_000);
    expect(next.sentOf("send")).toHaveLength(1);
  });

  it("that the history shows are not sent again", async () => {
    const page = new Page();
    await page.online();
    const id = page.connection.send({ text: "hi" });
    const next = page.reconnect({ resumed: false, seq: 50 });
    await next.history([userMessage("u1", "hi")]);
    expect(next.sentOf("send")).toHaveLength(0);
    expect(page.histories.at(-1)?.arrived).toEqual([id]);
  });

  it("that only look like an older message are sent again", async () => {
    const page = new Page();
    page.connection.start();
    page.socket.open();
    page.socket.welcome();
    await page.socket.history([userMessage("u0", "hi")]);
    page.connection.send({ text: "hi" });
    const next = page.reconnect({ resumed: false, seq: 50 });
    await next.history([userMessage("u0", "hi")]);
    expect(next.sentOf("send")).toHaveLength(1);
  });

  it("whose running turn is replayed before the history comes are not sent again", async () => {
    const page = new Page();
    await page.online();
    page.connection.send({ text: "hi" });
    const next = page.reconnect({ resumed: false, seq: 9, state: "streaming" });
    next.say(start(1, "hi"));
    await next.history([userMessage("u1", "hi")]);
    expect(next.sentOf("send")).toHaveLength(0);
  });

  it("are given back as unsure when neither replay nor history can tell", async () => {
    const page = new Page();
    await page.online();
    const id = page.connection.send({ text: "hi" });
    const next = page.reconnect({ resumed: false, seq: 50 });
    const asked = next.sentOf("chat.history").at(-1)?.id ?? "";
    next.say({ type: "error", code: "internal", message: "no", re: asked });
    await next.history();
    expect(page.lostTrackOf).toEqual([id]);
    expect(next.sentOf("send")).toHaveLength(0);
  });

  it("that the server refused are named", async () => {
    const page = new Page();
    const socket = await page.online();
    const id = page.connection.send({ text: "hi" });
    socket.say({ type: "error", code: "rate_limited", message: "slowly", re: id ?? "" });
    expect(page.answered.at(-1)).toBe(id);
    expect(page.reconnect({ resumed: true, seq: 0 }).sentOf("send")).toHaveLength(0);
  });

  it("wait only up to a number", async () => {
    const page = new Page();
    await page.online();
    page.socket.break();
    const ids = Array.from({ length: 9 }, (_, index) => page.connection.send({ text: `${index}` }));
    expect(ids.filter((id) => id === null)).toHaveLength(1);
  });
});

describe("requests", () => {
  it("get the answer that carries their id", async () => {
    const page = new Page();
    const socket = await page.online();
    const answer = page.connection.request<"models.list">({ type: "models.list", provider: "ollama" });
    const id = socket.sentOf("models.list")[0]?.id ?? "";
    socket.say({ type: "models", provider: "ollama", models: ["a"], re: id });
    await expect(answer).resolves.toMatchObject({ models: ["a"] });
  });

  it("fail with what the server said", async () => {
    const page = new Page();
    const socket = await page.online();
    const answer = page.connection.request<"models.list">({ type: "models.list", provider: "nope" });
    socket.say({ type: "error", code: "not_found", message: "unknown", re: socket.sentOf("models.list")[0]?.id ?? "" });
    await expect(answer).rejects.toEqual(new RequestError("not_found", "unknown"));
  });

  it("fail after a while without an answer", async () => {
    const page = new Page();
    await page.online();
    const answer = page.connection.request<"status">({ type: "status" }, 5_000);
    page.clock.advance(5_000);
    await expect(answer).rejects.toMatchObject({ code: "timeout" });
  });

  it("fail at once when the connection breaks or is not there", async () => {
    const page = new Page();
    await page.online();
    const answer = page.connection.request<"status">({ type: "status" });
    page.socket.break();
    await expect(answer).rejects.toMatchObject({ code: "offline" });
    await expect(page.connection.request<"status">({ type: "status" })).rejects.toMatchObject({ code: "offline" });
  });
});
