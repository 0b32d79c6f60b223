import { describe, expect, it } from "vitest";

import { chatProviderIn, guideFor, guideNeed, headline, providersIn } from "../src/view.js";

const online = { phase: "online", retryAt: null, first: false } as const;
const ready = { state: "ready", detail: null, guide: null } as const;

describe("the headline", () => {
  it("puts a lost connection before everything", () => {
    expect(headline({ ...online, phase: "offline" }, ready, true)).toBe("offline");
  });

  it("tells thinking from talking", () => {
    expect(headline(online, ready, false)).toBe("thinking");
    expect(headline(online, ready, true)).toBe("streaming");
  });

  it("names the demonstration model", () => {
    expect(headline(online, { ...ready, detail: "demo" }, null)).toBe("demo");
  });

  it("shows each state of the server", () => {
    for (const state of ["needs-local-model", "testing-connection", "model-selection", "error"] as const)
      expect(headline(online, { ...ready, state }, null)).toBe(state);
  });
});

it("opens the guide unasked only where nothing goes on without it", () => {
  expect(guideNeed({ ...ready, state: "error" })).toBe("open");
  expect(guideNeed({ ...ready, state: "testing-connection" })).toBe("folded");
  expect(guideNeed(ready)).toBe("none");
  expect(guideNeed(null)).toBe("none");
});

it("finds the providers in the public settings, each once", () => {
  const values = { "llm.providers.ollama.base_url": "", "llm.providers.openai.base_url": "", "llm.providers.openai.api_format": "", "chat.temperature": 1 };
  expect(providersIn(values)).toEqual(["ollama", "openai"]);
  expect(providersIn(values).map(guideFor)).toEqual(["ollama", "cloud"]);
});

it("knows the provider that lab.toml names for the chat, or that it names none", () => {
  expect(chatProviderIn({ "agent.models.chat.provider": "my_ollama" })).toBe("my_ollama");
  expect(chatProviderIn({})).toBe("");
});
