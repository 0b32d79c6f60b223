import type { Status } from "./connection/connection.js";
import type { Catalogue } from "./i18n/index.js";
import type { Guide, StateName } from "./protocol/index.js";

/** What the server last said about its models. */
export interface ServerState {
  readonly state: StateName;
  readonly detail: string | null;
  readonly guide: Guide | null;
}

export type Headline = keyof Catalogue["state"];

/** The one word that says how things are. */
export function headline(status: Status, server: ServerState | null, wroteSomething: boolean | null): Headline {
  if (status.phase !== "online") return status.phase;
  if (wroteSomething !== null) return wroteSomething ? "streaming" : "thinking";
  if (!server) return "connecting";
  if (server.state === "ready" && server.detail === "demo") return "demo";
  return server.state === "streaming" ? "ready" : server.state;
}

/** Whether the page has to explain how a model is connected, and whether it does so unasked. */
export function guideNeed(server: ServerState | null): "none" | "folded" | "open" {
  switch (server?.state) {
    case "needs-local-model":
    case "model-selection":
    case "error":
      return "open";
    case "testing-connection":
      return "folded";
    default:
      return "none";
  }
}

const LOCAL: Readonly<Record<string, Guide>> = { ollama: "ollama", lmstudio: "lmstudio", builtin: "builtin" };

export const guideFor = (provider: string): Guide => LOCAL[provider] ?? "cloud";

/** The names of the providers in the server's public settings, in their order. */
export function providersIn(values: Readonly<Record<string, unknown>>): string[] {
  const names = Object.keys(values).flatMap((key) => /^llm\.providers\.([^.]+)\./.exec(key)?.[1] ?? []);
  return [...new Set(names)];
}

/** The provider that lab.toml names for the chat role; "" where the choice is left open. */
export function chatProviderIn(values: Readonly<Record<string, unknown>>): string {
  const name = values["agent.models.chat.provider"];
  return typeof name === "string" ? name : "";
}
