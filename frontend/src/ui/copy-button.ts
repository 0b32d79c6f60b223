import { LitElement, html, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";

import { COPIED_MS, copyText } from "./copy.js";
import { copiedIcon, copyIcon } from "./icons.js";

/** Copies `text` and says so. Stands in its parent's root. */
@customElement("pet-copy-button")
export class PetCopyButton extends LitElement {
  @property({ attribute: false }) text = "";
  @property() label = "";
  @property() done = "";
  @property() refused = "";
  @state() private outcome: "none" | "done" | "refused" = "none";

  #timer = 0;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const said = this.outcome === "none" ? "" : this[this.outcome];
    return html`<button type="button" class="quiet" aria-label=${this.label} title=${said || this.label} @click=${this.#copy}>
        ${this.outcome === "done" ? copiedIcon : copyIcon}
      </button>
      <span class="visually-hidden" role="status">${said}</span>`;
  }

  async #copy(): Promise<void> {
    this.outcome = (await copyText(this.text)) ? "done" : "refused";
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => (this.outcome = "none"), COPIED_MS);
  }
}
