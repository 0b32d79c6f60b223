import { LitElement, css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";

import type { Connection } from "../connection/connection.js";
import type { Catalogue } from "../i18n/index.js";
import type { Role } from "../protocol/index.js";
import { failureText } from "./failure.js";
import { shared } from "./shared.js";

const ROLES: readonly Role[] = ["chat", "tool", "vision"];

/** Chooses a role's model, among those of one provider. Fires `chosen` when it is saved. */
@customElement("pet-model-picker")
export class PetModelPicker extends LitElement {
  static override styles = [
    shared,
    css`
      form {
        display: flex;
        flex-wrap: wrap;
        align-items: end;
        gap: var(--space-2);
      }

      label {
        display: grid;
        flex: 1 1 12rem;
        gap: var(--space-1);
        min-width: 0;
        font-size: var(--text-s);
        font-weight: 600;
      }

      .role {
        flex: 0 1 9rem;
      }

      select {
        width: 100%;
        min-height: 2.25rem;
        padding: var(--space-1) var(--space-2);
        border: 1px solid var(--line);
        border-radius: var(--radius-s);
        background: var(--surface);
        font-weight: 400;
      }

      p {
        font-size: var(--text-s);
        color: var(--ink-soft);
      }

      .bad {
        color: var(--bad);
      }
    `,
  ];

  @property({ attribute: false }) connection!: Connection;
  @property({ attribute: false }) words!: Catalogue;
  @property() provider = "";
  /** Every role can be chosen for, not the one that chats alone. */
  @property({ type: Boolean }) anyRole = false;
  @state() private chosenRole: Role = "chat";
  @state() private models: readonly string[] | null = null;
  @state() private model = "";
  @state() private saving = false;
  @state() private outcome: { readonly ok: boolean; readonly text: string } | null = null;

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has("provider")) void this.#load();
  }

  protected override render(): TemplateResult {
    return html`<div data-testid="model-picker">${this.#list()} ${this.#result()}</div>`;
  }

  #list(): TemplateResult | typeof nothing {
    const { picker } = this.words;
    if (this.models === null) return this.outcome ? nothing : html`<p role="status">${picker.loading}</p>`;
    if (this.models.length === 0) return html`<p>${picker.none}</p>`;
    return html`<form @submit=${this.#save}>
      ${this.anyRole ? this.#roles() : nothing}
      <label>
        ${picker.title}
        <select data-testid="model-select" @change=${this.#changed}>
          ${this.models.map((model) => html`<option ?selected=${model === this.model}>${model}</option>`)}
        </select>
      </label>
      <button class="primary" data-testid="model-use" ?disabled=${this.saving}>
        ${this.saving ? picker.saving : picker.use}
      </button>
    </form>`;
  }

  #roles(): TemplateResult {
    const { picker } = this.words;
    const change = (event: Event) => (this.chosenRole = (event.target as HTMLSelectElement).value as Role);
    return html`<label class="role">
      ${picker.role}
      <select data-testid="model-role" @change=${change}>
        ${ROLES.map((role) => html`<option value=${role} ?selected=${role === this.chosenRole}>${picker.roles[role]}</option>`)}
      </select>
    </label>`;
  }

  #result(): TemplateResult | typeof nothing {
    if (!this.outcome) return nothing;
    return html`<p role="status" class=${this.outcome.ok ? "" : "bad"}>${this.outcome.text}</p>`;
  }

  #changed(event: Event): void {
    this.model = (event.target as HTMLSelectElement).value;
  }

  async #load(): Promise<void> {
    const { provider } = this;
    this.models = this.outcome = null;
    try {
      const { models } = await this.connection.request<"models.list">({ type: "models.list", provider });
      if (provider !== this.provider) return;
      this.models = models;
      this.model = models[0] ?? "";
    } catch (error) {
      if (provider === this.provider) this.outcome = { ok: false, text: failureText(error, this.words) };
    }
  }

  async #save(event: Event): Promise<void> {
    event.preventDefault();
    const { provider, model, chosenRole: role } = this;
    this.saving = true;
    try {
      await this.connection.request<"models.select">({ type: "models.select", role, provider, model });
      this.outcome = { ok: true, text: this.words.picker.saved };
      this.dispatchEvent(new CustomEvent("chosen"));
    } catch (error) {
      this.outcome = { ok: false, text: failureText(error, this.words) };
    } finally {
      this.saving = false;
    }
  }
}
