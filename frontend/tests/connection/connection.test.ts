import { describe, expect, it } from "vitest";

import { Page, settled, userMessage } from "../fakes/server.js";

describe("saying hello", () => {
  it("introduces the page, in its language", () => {
    const page = new Page();
    page.locale = "zh-CN";
    page.connection.start();
    page.socket.open();
    expect(page.socket.sent).toEqual([{ type: "hello", protocol: 1, locale: "zh-CN", client: "page" }]);
  });

  it("is online only after the welcome", async () => {
    const page = new Page();
    page.connection.start();
    page.socket.open();
    expect(page.phase).toBe("connecting");
    page.socket.welcome();
    expect(page.phase).toBe("online");
  });

  it("gives up on a server that opens and never welcomes", () => {
    const page = new Page();
    page.connection.start();
    page.socket.open();
    page.clock.advance(10_000);
    expect(page.sockets[0]?.closed).toBe(true);
    expect(page.phase).toBe("offline");
  });

  it("continues where the tab was before a reload", () => {
    const page = new Page({ session: "s9", seq: 41 });
    page.connection.start();
    page.socket.open();
    expect(page.socket.sent[0]).toMatchObject({ session: "s9", last_seq: 41 });
  });

  it("reads the history on a new page even when the session was resumed", async () => {
    const page = new Page({ session: "s1", seq: 5 });
    page.connection.start();
    page.socket.open();
    page.socket.welcome({ resumed: true, seq: 5 });
    await page.socket.history([userMessage("u1", "hi")]);
    expect(page.histories).toHaveLength(1);
  });

  it("says hello again in another language on a new connection to the same session", async () => {
    const page = new Page();
    await page.online({ seq: 7 });
    page.locale = "zh-CN";
    page.connection.restart();
    expect(page.sockets[0]?.closed).toBe(true);
    page.socket.open();
    expect(page.socket.sent[0]).toMatchObject({ session: "s1", last_seq: 7, locale: "zh-CN" });
  });
});

describe("losing the connection", () => {
  it("waits longer after each failure, but never longer than 15 s", () => {
    const page = new Page();
    page.connection.start();
    const waits: number[] = [];
    for (let failure = 0; failure < 8; failure++) {
      page.socket.break();
      const wait = (page.connection.status.value.retryAt ?? 0) - page.clock.now();
      waits.push(wait);
      page.clock.advance(wait);
    }
    expect(waits.slice(0, 4)).toEqual([500, 1_000, 2_000, 4_000]);
    expect(Math.max(...waits)).toBe(15_000);
  });

  it("tries at once when the network or the person is back", () => {
    const page = new Page();
    page.connection.start();
    page.socket.break();
    page.connection.wake();
    expect(page.sockets).toHaveLength(2);
    expect(page.phase).toBe("connecting");
  });

  it("opens only one connection when woken and due at the same time", () => {
    const page = new Page();
    page.connection.start();
    page.socket.break();
    page.connection.wake();
    page.clock.advance(5_000);
    expect(page.sockets).toHaveLength(2);
  });

  it("takes 40 s of silence for a loss", async () => {
    const page = new Page();
    await page.online();
    page.clock.advance(39_999);
    expect(page.phase).toBe("online");
    page.clock.advance(1);
    expect(page.phase).toBe("offline");
  });

  it("takes a ping for a sign of life", async () => {
    const page = new Page();
    const socket = await page.online();
    for (let ping = 0; ping < 4; ping++) {
      page.clock.advance(30_000);
      socket.say({ type: "ping" });
    }
    expect(page.phase).toBe("online");
  });

  it("asks to resume after the newest frame it has", async () => {
    const page = new Page();
    const socket = await page.online({ seq: 10 });
    socket.say({ type: "notice", level: "info", code: "x", message: "x", seq: 11 });
    socket.break();
    page.clock.advance(1_000);
    page.socket.open();
    expect(page.socket.sent[0]).toMatchObject({ session: "s1", last_seq: 11 });
  });

  it("takes each session frame once, however often it is replayed", async () => {
    const page = new Page();
    const socket = await page.online({ seq: 0 });
    const notice = { type: "notice", level: "info", code: "x", message: "x" } as const;
    socket.say({ ...notice, seq: 1 });
    const next = page.reconnect({ resumed: true, seq: 2 });
    next.say({ ...notice, seq: 1 });
    next.say({ ...notice, seq: 2 });
    expect(page.types().filter((type) => type === "notice")).toHaveLength(2);
  });

  it("reads the history where the server could not replay", async () => {
    const page = new Page();
    await page.online();
    const next = page.reconnect({ resumed: false, seq: 90 });
    expect(next.sentOf("chat.history")).toHaveLength(1);
  });

  it("takes the running turn, replayed from its start, below the newest number", async () => {
    const page = new Page();
    await page.online();
    const next = page.reconnect({ resumed: false, seq: 90, state: "streaming" });
    next.say({ type: "turn.start", turn: 4, message_id: "u4", origin: "user", text: "hi", seq: 88 });
    next.say({ type: "delta", turn: 4, text: "Hello", seq: 89 });
    expect(page.types().slice(-2)).toEqual(["turn.start", "delta"]);
  });
});

describe("a locked door", () => {
  it("is told from an absent server", async () => {
    const page = new Page();
    page.diagnosis = "token-needed";
    page.connection.start();
    page.socket.break();
    await settled();
    expect(page.phase).toBe("refused");
  });

  it("stays visible while the page tries again", async () => {
    const page = new Page();
    page.diagnosis = "token-needed";
    page.connection.start();
    page.socket.break();
    await settled();
    page.clock.advance(1_000);
    expect(page.phase).toBe("refused");
    page.socket.open();
    page.socket.welcome();
    expect(page.phase).toBe("online");
  });
});

describe("turns", () => {
  it("drops what belongs to an older turn", async () => {
    const page = new Page();
    const socket = await page.online();
    socket.say({ type: "turn.start", turn: 1, message_id: "u1", origin: "user", text: "a", seq: 1 });
    socket.say({ type: "turn.start", turn: 2, message_id: "u2", origin: "user", text: "b", seq: 2 });
    socket.say({ type: "delta", turn: 1, text: "old", seq: 3 });
    socket.say({ type: "delta", turn: 2, text: "new", seq: 4 });
    expect(page.frames.filter((frame) => frame.type === "delta")).toMatchObject([{ text: "new" }]);
  });

  it("drops what comes after a turn's end", async () => {
    const page = new Page();
    const socket = await page.online();
    socket.say({ type: "turn.start", turn: 1, message_id: "u1", origin: "user", text: "a", seq: 1 });
    socket.say({ type: "turn.cancelled", turn: 1, text: "", seq: 2 });
    socket.say({ type: "delta", turn: 1, text: "late", seq: 3 });
    expect(page.types()).not.toContain("delta");
  });

  it("remembers a running turn's beginning, so that a reload sees all of it", async () => {
    const page = new Page();
    const socket = await page.online({ seq: 20 });
    socket.say({ type: "turn.start", turn: 1, message_id: "u1", origin: "user", text: "a", seq: 21 });
    socket.say({ type: "delta", turn: 1, text: "He", seq: 22 });
    expect(page.point).toEqual({ session: "s1", seq: 20 });
    socket.say({ type: "turn.cancelled", turn: 1, text: "He", seq: 23 });
    expect(page.point).toEqual({ session: "s1", seq: 23 });
  });

  it("ignores what is no frame", async () => {
    const page = new Page();
    const socket = await page.online();
    for (const junk of ["", "{", "[]", "null", "7", '{"type":7}', new Uint8Array([1])]) socket.onmessage?.(junk);
    expect(page.phase).toBe("online");
    expect(page.types()).toEqual(["welcome"]);
  });
});
