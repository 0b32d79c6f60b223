import { expect, it } from "vitest";

import { storeKey } from "../../src/connection/store-key.js";
import { Page } from "../fakes/server.js";
import { settled } from "../fakes/server.js";

async function storing() {
  const page = new Page();
  const socket = await page.online();
  const outcome = storeKey(page.connection, "openai", "sk-1").then(
    () => "stored",
    (error: unknown) => String(error),
  );
  return { socket, outcome };
}

type Socket = Awaited<ReturnType<typeof storing>>["socket"];

async function showSettings(socket: Socket, revision: string): Promise<void> {
  const re = socket.sentOf("settings.get").at(-1)?.id ?? "";
  socket.say({ type: "settings", revision, values: {}, re });
  await settled();
}

async function refuse(socket: Socket, code: "conflict" | "bad_request"): Promise<void> {
  const re = socket.sentOf("settings.update").at(-1)?.id ?? "";
  socket.say({ type: "error", code, message: `it is a ${code}`, re });
  await settled();
}

it("stores a key under the newest revision", async () => {
  const { socket, outcome } = await storing();
  await showSettings(socket, "r1");
  const [update] = socket.sentOf("settings.update");
  expect(update).toMatchObject({ revision: "r1", changes: { "llm.providers.openai.api_key": "sk-1" } });
  socket.say({ type: "settings", revision: "r2", values: {}, re: update?.id ?? "" });
  expect(await outcome).toBe("stored");
});

it("looks again when lab.toml was changed in between", async () => {
  const { socket, outcome } = await storing();
  await showSettings(socket, "r1");
  await refuse(socket, "conflict");
  await showSettings(socket, "r2");
  const update = socket.sentOf("settings.update").at(-1);
  expect(update?.revision).toBe("r2");
  socket.say({ type: "settings", revision: "r3", values: {}, re: update?.id ?? "" });
  expect(await outcome).toBe("stored");
});

it("gives up when that goes on, or when the key is none", async () => {
  const { socket, outcome } = await storing();
  for (let round = 0; round < 3; round++) {
    await showSettings(socket, "r");
    await refuse(socket, "conflict");
  }
  expect(await outcome).toContain("conflict");
  const second = await storing();
  await showSettings(second.socket, "r");
  await refuse(second.socket, "bad_request");
  expect(await second.outcome).toContain("bad_request");
});
