import { expect, it } from "vitest";

import { typed } from "../../src/commands/commands.js";
import { bugReport } from "../../src/commands/report.js";

it.each(["/help", " /Status ", "/model please", "/connect\n"])("does %j itself", (text) => {
  expect(typed(text).kind).toBe("command");
});

it.each(["/foo", "/etc is a folder", "/statuss", "/constructor"])("doesn't send %j unasked", (text) => {
  expect(typed(text).kind).toBe("unknown");
});

it.each([
  "hello", "", "/", "//", "/ help", "/usr/bin/env is what?", "/etc/hosts", "/help.", "/2", "/中文", "see /help", "a/b", "/a-b",
])("sends %j", (text) => {
  expect(typed(text)).toEqual({ kind: "message" });
});

it("names the command that there isn't", () => {
  expect(typed("/Foo bar")).toEqual({ kind: "unknown", name: "foo", nearest: null });
});

it("puts the whole status into a bug report, and no place of this computer", () => {
  const text = bugReport(
    {
      type: "status",
      version: "1.2.3",
      state: "ready",
      detail: "demo",
      roles: { chat: { provider: "ollama", model: "qwen3:4b", context_tokens: 8192, capabilities: { tools: true } } },
      usage_today: { chat: { prompt: 10, completion: 2 } },
      memory: { items: 0, candidates: 0 },
      mcp: [{ name: "git", state: "failed", tools: 0, error: "exited" }],
      tools: [{ name: "vision__screen_shot", enabled: false }],
      workspace: "secret-project",
      sessions: 1,
    },
    { browser: "Chromium", locale: "zh-CN", window: "360 × 740" },
  );
  for (const part of ["1.2.3", "ready (demo)", "qwen3:4b", "8192", '"tools":true', "10 + 2", "git: failed", "exited", "screen_shot: off", "360 × 740"])
    expect(text).toContain(part);
  expect(text).not.toContain("secret-project");
});
