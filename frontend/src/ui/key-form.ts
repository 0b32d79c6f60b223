import { LitElement, css, html, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";

import { storeKey } from "../connection/store-key.js";
import type { Connection } from "../connection/connection.js";
import type { Catalogue } from "../i18n/index.js";
import { failureText } from "./failure.js";
import { shared } from "./shared.js";

/** Takes a provider's key and never shows one. Fires `stored`. */
@customElement("pet-key-form")
export class PetKeyForm extends LitElement {
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
        flex: 1 1 14rem;
        gap: var(--space-1);
        min-width: 0;
        font-size: var(--text-s);
        font-weight: 600;
      }

      input {
        width: 100%;
        min-height: 2.25rem;
        padding: var(--space-1) var(--space-3);
        border: 1px solid var(--line);
        border-radius: var(--radius-s);
        background: var(--surface);
        font-weight: 400;
      }

      p {
        flex: 1 1 100%;
        color: var(--ink-soft);
        font-size: var(--text-s);
      }

      .good {
        color: var(--good);
      }

      .bad {
        color: var(--bad);
      }
    `,
  ];

  @property({ attribute: false }) connection!: Connection;
  @property({ attribute: false }) words!: Catalogue;
  @property() provider = "";
  @state() private key = "";
  @state() private saving = false;
  @state() private outcome: { readonly ok: boolean; readonly text: string } | null = null;

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("provider")) return;
    this.key = "";
    this.outcome = null;
  }

  protected override render(): TemplateResult {
    const { key } = this.words;
    const { outcome } = this;
    return html`<form @submit=${this.#save}>
      <label>
        ${key.label(this.provider)}
        <input type="password" data-testid="key" autocomplete="off" autocapitalize="off" spellcheck="false"
          aria-describedby="told" .value=${this.key} @input=${this.#typed} />
      </label>
      <button data-testid="key-save" ?disabled=${this.saving || this.key.trim() === ""}>
        ${this.saving ? key.saving : key.save}
      </button>
      <p id="told" role="status" data-testid="key-result" class=${outcome ? (outcome.ok ? "good" : "bad") : ""}>
        ${outcome ? outcome.text : key.hint}
      </p>
    </form>`;
  }

  #typed(event: Event): void {
    this.key = (event.target as HTMLInputElement).value;
    this.outcome = null;
  }

  async #save(event: Event): Promise<void> {
    event.preventDefault();
    const { provider } = this;
    this.saving = true;
    try {
      await storeKey(this.connection, provider, this.key.trim());
      if (provider !== this.provider) return;
      this.key = "";
      this.outcome = { ok: true, text: this.words.key.saved };
      this.dispatchEvent(new CustomEvent("stored"));
    } catch (error) {
      if (provider === this.provider) this.outcome = { ok: false, text: failureText(error, this.words) };
    } finally {
      this.saving = false;
    }
  }
}
