import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";

import type { Catalogue } from "../i18n/index.js";
import type { TextStorage } from "../lib/storage.js";
import { shared } from "./shared.js";

const FOLDED_KEY = "pet.demo.folded";

/** Says that only the demonstration model answers; can be folded for this tab, never put away. Fires `connect`. */
@customElement("pet-demo-banner")
export class PetDemoBanner extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: block;
        border-bottom: 1px solid var(--accent-line);
        background: var(--accent-soft);
      }

      .banner {
        max-width: var(--column);
        margin: 0 auto;
        padding: var(--space-3) var(--gutter);
      }

      h2 {
        font-size: var(--text-m);
      }

      p {
        font-size: var(--text-s);
        text-wrap: pretty;
      }

      .actions {
        display: flex;
        flex-wrap: wrap;
        gap: var(--space-2);
        margin-top: var(--space-2);
      }

      .folded {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        justify-content: space-between;
        gap: 0 var(--space-3);
        padding-block: var(--space-1);
      }

      .folded p {
        font-weight: 600;
      }

      .folded button {
        border-color: transparent;
        background: none;
        color: var(--accent);
        text-decoration: underline;
        text-underline-offset: 0.2em;
        padding-inline: 0;
      }
    `,
  ];

  @property({ attribute: false }) words!: Catalogue;
  @property({ attribute: false }) tabOnly!: TextStorage;
  /** The guide stands open below: then the small form does. */
  @property({ type: Boolean }) brief = false;
  @state() private folded = false;

  protected override willUpdate(): void {
    if (!this.hasUpdated) this.folded = this.tabOnly.get(FOLDED_KEY) === "yes";
  }

  protected override render(): TemplateResult {
    const { demo } = this.words;
    const connect = () => this.dispatchEvent(new CustomEvent("connect"));
    if (this.folded || this.brief) {
      return html`<div class="banner folded">
        <p>${demo.small}</p>
        ${this.brief ? nothing : html`<button data-testid="demo-connect" @click=${connect}>${demo.connect}</button>`}
      </div>`;
    }
    return html`<div class="banner">
      <h2>${demo.title}</h2>
      <p>${demo.text}</p>
      <div class="actions">
        <button class="primary" data-testid="demo-connect" @click=${connect}>${demo.connect}</button>
        <button class="quiet" data-testid="demo-fold" @click=${this.#fold}>${demo.fold}</button>
      </div>
    </div>`;
  }

  #fold(): void {
    this.folded = true;
    this.tabOnly.set(FOLDED_KEY, "yes");
  }
}
