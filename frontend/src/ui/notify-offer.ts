import { LitElement, css, html, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";

import type { Catalogue } from "../i18n/index.js";
import { shared } from "./shared.js";

/** Offers once to call whoever waits elsewhere. Fires `answer` with a boolean. */
@customElement("pet-notify-offer")
export class PetNotifyOffer extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: block;
        width: 100%;
        max-width: var(--column);
        margin: 0 auto;
        padding: 0 var(--gutter) var(--space-2);
      }

      .offer {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-2);
        padding: var(--space-2) var(--space-4);
        border: 1px solid var(--line);
        border-radius: var(--radius);
        background: var(--surface);
        font-size: var(--text-s);
      }

      p {
        flex: 1 1 14rem;
      }
    `,
  ];

  @property({ attribute: false }) words!: Catalogue;

  protected override render(): TemplateResult {
    const { notify } = this.words;
    const answer = (wanted: boolean) => () => this.dispatchEvent(new CustomEvent("answer", { detail: wanted }));
    return html`<div class="offer" role="group" aria-label=${notify.offer} data-testid="notify-offer">
      <p role="status">${notify.offer}</p>
      <button data-testid="notify-yes" @click=${answer(true)}>${notify.yes}</button>
      <button class="quiet" data-testid="notify-no" @click=${answer(false)}>${notify.no}</button>
    </div>`;
  }
}
