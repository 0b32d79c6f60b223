import { html, nothing, type TemplateResult } from "lit";

import type { Cost } from "../chat/model.js";
import { count, moment, seconds } from "../i18n/format.js";
import type { Catalogue } from "../i18n/index.js";

/** When a message was written and, unfolded, what it took. */
export function costView(at: string | null, cost: Cost | null, words: Catalogue): TemplateResult | typeof nothing {
  const when = at === null ? "" : moment(at, words.tag);
  if (when === "") return nothing;
  const time = html`<time datetime=${at ?? ""}>${when}</time>`;
  if (!cost) return html`<div class="when">${time}</div>`;
  return html`<details class="when" data-testid="cost">
    <summary title=${words.cost.label}>${time}</summary>
    <ul>
      ${lines(cost, words).map((line) => html`<li>${line}</li>`)}
    </ul>
  </details>`;
}

function lines({ path, usage, timing }: Cost, words: Catalogue): string[] {
  const { cost, tag } = words;
  const times = [cost.total(seconds(timing.total_ms, tag))];
  if (timing.first_delta_ms !== undefined) times.unshift(cost.first(seconds(timing.first_delta_ms, tag)));
  if (timing.tool_ms > 0) times.push(cost.tools(seconds(timing.tool_ms, tag)));
  const tokens = (["chat", "tool", "vision"] as const).flatMap((role) => {
    const used = usage[role];
    return used ? [cost.tokens(words.roles[role], count(used.prompt, tag), count(used.completion, tag))] : [];
  });
  return [...(path === null ? [] : [cost.path[path]]), times.join(" · "), ...tokens];
}
