import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";

import { bugReport } from "../commands/report.js";
import type { Connection } from "../connection/connection.js";
import { count } from "../i18n/format.js";
import type { Catalogue } from "../i18n/index.js";
import type { Role, ServerFrameOf } from "../protocol/index.js";
import { headline } from "../view.js";
import { failureText } from "./failure.js";
import { panelStyle } from "./panel-style.js";
import { shared } from "./shared.js";
import { toolName } from "./tool-names.js";

type Status = ServerFrameOf<"status">;
type RoleStatus = NonNullable<Status["roles"][Role]>;

const ROLES: readonly Role[] = ["chat", "tool", "vision"];
const CAPABILITIES = ["vision", "tools", "json_schema", "system_role", "streaming_usage"] as const;
const COPIED_MS = 2_000;

/** Everything that the server says about itself, and a copy of it for a bug report. */
@customElement("pet-status-panel")
export class PetStatusPanel extends LitElement {
  static override styles = [
    shared,
    panelStyle,
    css`
      .facts {
        display: grid;
        grid-template-columns: auto minmax(0, 1fr);
        gap: var(--space-1) var(--space-4);
        margin: 0;
      }

      dt {
        color: var(--ink-soft);
      }

      dd {
        margin: 0;
        overflow-wrap: anywhere;
      }

      .role {
        display: grid;
        gap: var(--space-1);
        padding-bottom: var(--space-2);
      }

      .model {
        font-weight: 600;
        overflow-wrap: anywhere;
      }

      .soft {
        color: var(--ink-soft);
      }

      .can {
        display: flex;
        flex-wrap: wrap;
        gap: var(--space-1) var(--space-2);
        list-style: none;
      }

      .can li {
        padding: 0 var(--space-2);
        border: 1px solid var(--line);
        border-radius: 999px;
        font-size: 0.75rem;
      }

      .can .no,
      .can .unknown {
        border-style: dashed;
        color: var(--ink-soft);
      }

      .can .no span {
        text-decoration: line-through;
      }

      .off {
        color: var(--ink-soft);
      }

      .bad {
        color: var(--bad);
        overflow-wrap: anywhere;
      }

      .row {
        display: flex;
        flex-wrap: wrap;
        align-items: baseline;
        gap: 0 var(--space-2);
      }

      textarea {
        width: 100%;
        height: 10rem;
        padding: var(--space-2);
        border: 1px solid var(--line);
        border-radius: var(--radius-s);
        background: var(--sunken);
        font-family: var(--mono);
        font-size: 0.75rem;
      }
    `,
  ];

  @property({ attribute: false }) connection!: Connection;
  @property({ attribute: false }) words!: Catalogue;
  @state() private status: Status | null = null;
  @state() private failed: string | null = null;
  @state() private copied: "no" | "yes" | "refused" = "no";

  protected override firstUpdated(): void {
    void this.#load();
  }

  protected override render(): TemplateResult {
    const { status: text } = this.words;
    return html`<div class="panel" data-testid="status-panel">
      ${this.failed === null ? nothing : html`<p class="bad" role="alert">${this.failed}</p>`}
      ${this.status ? this.#all(this.status) : html`<p role="status">${this.failed === null ? text.loading : nothing}</p>`}
      <div class="actions">
        <button class="primary" data-testid="status-copy" ?disabled=${!this.status} @click=${this.#copy}>
          ${this.copied === "yes" ? text.copied : text.copy}
        </button>
        <button data-testid="status-refresh" @click=${this.#load}>${text.refresh}</button>
        <span class="visually-hidden" role="status">${this.copied === "yes" ? text.copied : ""}</span>
      </div>
      ${this.copied === "refused" && this.status
        ? html`<p>${text.copyFailed}</p>
            <textarea readonly aria-label=${text.copy} .value=${this.#report(this.status)}></textarea>`
        : nothing}
    </div>`;
  }

  #all(status: Status): TemplateResult {
    const { status: text, state: states, tag } = this.words;
    const server = { state: status.state, detail: status.detail ?? null, guide: null };
    const now = headline(this.connection.status.value, server, status.state === "streaming" ? true : null);
    return html`
      <dl class="facts">
        <dt>${text.state}</dt>
        <dd>${states[now]}</dd>
        <dt>${text.version}</dt>
        <dd>${status.version}</dd>
        ${status.workspace === undefined ? nothing : html`<dt>${text.workspace}</dt><dd>${status.workspace}</dd>`}
        <dt>${text.sessions}</dt>
        <dd>${count(status.sessions, tag)}</dd>
      </dl>
      <h3>${text.models}</h3>
      <dl class="facts">
        ${ROLES.map((role) => html`<dt>${this.words.roles[role]}</dt><dd>${this.#role(role, status)}</dd>`)}
      </dl>
      <h3>${text.mcp}</h3>
      ${this.#servers(status)}
      <h3>${text.tools}</h3>
      ${this.#tools(status)}
    `;
  }

  #role(role: Role, { roles, usage_today }: Status): TemplateResult {
    const { status: text, tag } = this.words;
    const chosen = roles[role];
    const used = usage_today[role];
    return html`<div class="role" data-testid="status-role" data-role=${role}>
      ${chosen ? this.#model(chosen) : html`<span class="soft">${text.noModel}</span>`}
      ${used ? html`<span class="soft">${text.today(count(used.prompt, tag), count(used.completion, tag))}</span>` : nothing}
    </div>`;
  }

  #model({ provider, model, context_tokens, capabilities }: RoleStatus): TemplateResult {
    const { status: text, tag } = this.words;
    return html`<span class="model">${model} <span class="soft">${provider}</span></span>
      <span class="soft">
        ${context_tokens === undefined ? text.contextUnknown : text.context(count(context_tokens, tag))}
        ${capabilities.reasoning_field === undefined ? nothing : html` · ${text.reasoning(capabilities.reasoning_field)}`}
      </span>
      <ul class="can">
        ${CAPABILITIES.map((name) => {
          const can = capabilities[name];
          const answer = can === undefined ? "unknown" : can ? "yes" : "no";
          return html`<li class=${answer} title=${text.answer[answer]}>
            <span>${text.capabilities[name]}</span>${answer === "unknown" ? " ?" : nothing}
            <span class="visually-hidden">${text.answer[answer]}</span>
          </li>`;
        })}
      </ul>`;
  }

  #servers({ mcp }: Status): TemplateResult {
    const { status: text } = this.words;
    const states: Readonly<Record<string, string>> = text.mcpState;
    if (mcp.length === 0) return html`<p class="soft">${text.none}</p>`;
    return html`<ul>
      ${mcp.map(
        ({ name, state: now, tools, error }) => html`<li data-testid="status-mcp">
          <span class="row"><strong>${name}</strong> <span class="soft">${states[now] ?? now} · ${text.toolCount(tools)}</span></span>
          ${error === undefined ? nothing : html`<p class="bad">${error}</p>`}
        </li>`,
      )}
    </ul>`;
  }

  #tools({ tools }: Status): TemplateResult {
    const { status: text } = this.words;
    if (tools.length === 0) return html`<p class="soft">${text.none}</p>`;
    return html`<ul>
      ${tools.map(
        ({ name, enabled }) => html`<li class="row ${enabled ? "" : "off"}" data-testid="status-tool">
          ${toolName(name, this.words)} <code>${name}</code> <span>${enabled ? text.on : text.off}</span>
        </li>`,
      )}
    </ul>`;
  }

  #report(status: Status): string {
    const window = `${globalThis.innerWidth} × ${globalThis.innerHeight}`;
    return bugReport(status, { browser: navigator.userAgent, locale: this.words.tag, window });
  }

  async #load(): Promise<void> {
    this.failed = null;
    try {
      this.status = await this.connection.request<"status">({ type: "status" });
    } catch (error) {
      this.failed = failureText(error, this.words);
    }
  }

  async #copy(): Promise<void> {
    if (!this.status) return;
    try {
      await navigator.clipboard.writeText(this.#report(this.status));
      this.copied = "yes";
      setTimeout(() => (this.copied = "no"), COPIED_MS);
    } catch {
      this.copied = "refused";
    }
  }
}
