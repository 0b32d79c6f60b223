import { LitElement, css, html, type TemplateResult } from "lit";
import { customElement, property, query } from "lit/decorators.js";

import { closeIcon } from "./icons.js";
import { shared } from "./shared.js";

/**
 * A window over the page: holds the focus and gives it back, closes by Esc, its button and a click beside it.
 * Fires `close`.
 */
@customElement("pet-dialog")
export class PetDialog extends LitElement {
  static override styles = [
    shared,
    css`
      dialog {
        width: min(44rem, calc(100vw - 2 * var(--space-4)));
        max-height: min(80vh, 60rem);
        padding: 0;
        border: 1px solid var(--line);
        border-radius: var(--radius);
        background: var(--surface);
        color: var(--ink);
        box-shadow: var(--shadow);
        overflow: auto;
        scrollbar-width: thin;
      }

      :host([wide]) dialog {
        width: fit-content;
        max-width: calc(100vw - 2 * var(--space-4));
        max-height: calc(100vh - 2 * var(--space-4));
      }

      dialog::backdrop {
        background: rgb(0 0 0 / 45%);
      }

      .head {
        position: sticky;
        top: 0;
        z-index: 1;
        display: flex;
        align-items: center;
        justify-content: space-between;
        gap: var(--space-3);
        padding: var(--space-3) var(--space-4);
        border-bottom: 1px solid var(--line);
        background: var(--surface);
      }

      h2 {
        min-width: 0;
        font-size: var(--text-m);
        overflow-wrap: anywhere;
      }

      .head button {
        flex: none;
        width: 2.25rem;
        padding: 0;
      }

      .inside {
        padding: var(--space-4);
      }

      :host([wide]) .inside {
        padding: var(--space-2);
      }
    `,
  ];

  @property() heading = "";
  @property() closeLabel = "";
  @property({ type: Boolean, reflect: true }) wide = false;
  @query("dialog") private dialog!: HTMLDialogElement;

  protected override firstUpdated(): void {
    this.dialog.showModal();
  }

  protected override render(): TemplateResult {
    return html`<dialog aria-labelledby="heading" @close=${this.#closed} @click=${this.#clicked} @keydown=${this.#pressed}>
      <div class="head">
        <h2 id="heading">${this.heading}</h2>
        <button class="quiet" data-testid="dialog-close" aria-label=${this.closeLabel} title="${this.closeLabel} (Esc)"
          @click=${() => this.dialog.close()}>${closeIcon}</button>
      </div>
      <div class="inside"><slot></slot></div>
    </dialog>`;
  }

  #closed(): void {
    this.dispatchEvent(new CustomEvent("close"));
  }

  #clicked(event: Event): void {
    if (event.target === this.dialog) this.dialog.close();
  }

  /** Esc closes this and nothing else: below it would stop the reply. */
  #pressed(event: KeyboardEvent): void {
    if (event.key === "Escape") event.stopPropagation();
  }
}
