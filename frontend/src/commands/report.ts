import type { ServerFrameOf } from "../protocol/index.js";

/** What the page knows about itself. */
export interface Surroundings {
  readonly browser: string;
  readonly locale: string;
  readonly window: string;
}

/**
 * The status as plain text for a bug report, in English whatever the page speaks. The server puts no key,
 * prompt or path into a status; the workspace's name stays out as well.
 */
export function bugReport(status: ServerFrameOf<"status">, page: Surroundings): string {
  const { version, state, detail, sessions, roles, usage_today, mcp, tools } = status;
  return [
    `pet_mode ${version}`,
    `state: ${state}${detail === undefined ? "" : ` (${detail})`}, sessions: ${sessions}`,
    `browser: ${page.browser}`,
    `page: ${page.locale}, ${page.window}`,
    "",
    "models",
    ...Object.entries(roles).map(([role, { provider, model, context_tokens, capabilities }]) =>
      `- ${role}: ${provider} / ${model}, context ${context_tokens ?? "unknown"}, ${JSON.stringify(capabilities)}`),
    "tokens today",
    ...Object.entries(usage_today).map(([role, { prompt, completion }]) => `- ${role}: ${prompt} + ${completion}`),
    "MCP servers",
    ...mcp.map((server) => `- ${server.name}: ${server.state}, ${server.tools} tools${server.error === undefined ? "" : `, ${server.error}`}`),
    "tools",
    ...tools.map(({ name, enabled }) => `- ${name}: ${enabled ? "on" : "off"}`),
  ].join("\n");
}
