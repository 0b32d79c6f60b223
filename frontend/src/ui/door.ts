import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";

import type { Door } from "../companion.js";
import type { Catalogue } from "../i18n/index.js";
import { richLine } from "./rich-line.js";
import { shared } from "./shared.js";

/** Explains how a locked page is opened. Fires `token` with what was pasted as its cancelable detail. */
@customElement("pet-door")
export class PetDoor extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: grid;
        overflow: auto;
        padding: var(--space-5) var(--gutter);
      }

      .card {
        display: grid;
        gap: var(--space-4);
        width: min(100%, 30rem);
        margin: auto;
      }

      h2 {
        font-size: var(--text-l);
      }

      ol {
        display: grid;
        gap: var(--space-2);
        padding-inline-start: 1.4em;
      }

      .bad {
        color: var(--bad);
        font-weight: 600;
      }

      label {
        display: grid;
        gap: var(--space-1);
        font-size: var(--text-s);
        font-weight: 600;
      }

      .row {
        display: flex;
        gap: var(--space-2);
      }

      input {
        flex: 1;
        min-width: 0;
        padding: var(--space-2) var(--space-3);
        border: 1px solid var(--line);
        border-radius: var(--radius-s);
        background: var(--surface);
        font-family: var(--mono);
      }
    `,
  ];

  @property({ attribute: false }) door!: Door;
  @property({ attribute: false }) words!: Catalogue;
  @state() private invalid = false;
  @query("input") private box!: HTMLInputElement;

  protected override render(): TemplateResult {
    const { door } = this.words;
    const complaint = this.invalid ? door.invalid : this.door === "wrong" ? door.wrong : this.#spent();
    return html`<div class="card" data-testid="door">
      <h2>${door.title}</h2>
      <p>${door.why}</p>
      ${complaint ? html`<p class="bad" role="alert">${complaint}</p>` : nothing}
      <ol>
        ${door.steps.map((step) => html`<li>${richLine(step)}</li>`)}
      </ol>
      <form @submit=${this.#submit}>
        <label>
          ${door.paste}
          <span class="row">
            <input data-testid="token" type="password" autocomplete="off" spellcheck="false" required />
            <button class="primary">${door.open}</button>
          </span>
        </label>
      </form>
    </div>`;
  }

  #spent(): string | null {
    return this.door === "spent" ? this.words.door.codeSpent : null;
  }

  #submit(event: Event): void {
    event.preventDefault();
    this.invalid = !this.dispatchEvent(new CustomEvent("token", { detail: this.box.value, cancelable: true }));
  }
}
