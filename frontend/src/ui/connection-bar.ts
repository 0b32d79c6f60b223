import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";

import type { Status } from "../connection/connection.js";
import type { Catalogue } from "../i18n/index.js";
import { browserClock } from "../lib/clock.js";
import { shared } from "./shared.js";

/** Shows that the connection is gone and when it is tried again. Fires `retry`. */
@customElement("pet-connection-bar")
export class PetConnectionBar extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: block;
        border-bottom: 1px solid var(--line);
        background: var(--sunken);
        /* A short gap, as when the language changes, is nobody's business. */
        animation: appear 0.2s 0.8s both;
      }

      .bar {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-1) var(--space-3);
        max-width: var(--column);
        margin: 0 auto;
        padding: var(--space-2) var(--gutter);
        font-size: var(--text-s);
      }

      p {
        flex: 1 1 14rem;
      }

      .when {
        color: var(--ink-soft);
        font-variant-numeric: tabular-nums;
      }

      @keyframes appear {
        from {
          opacity: 0;
        }
      }
    `,
  ];

  @property({ attribute: false }) status!: Status;
  @property({ attribute: false }) words!: Catalogue;

  #tick: ReturnType<typeof setInterval> | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#tick = setInterval(() => this.requestUpdate(), 1_000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    if (this.#tick !== null) clearInterval(this.#tick);
  }

  protected override render(): TemplateResult {
    const { connection, state } = this.words;
    const { retryAt } = this.status;
    const seconds = retryAt === null ? null : Math.ceil((retryAt - browserClock.now()) / 1_000);
    return html`<div class="bar">
      <p role="status">${connection.lost} ${connection.serverGone} <code>pet</code></p>
      <span class="when">${seconds === null ? state.connecting : connection.retryIn(seconds)}</span>
      ${seconds === null
        ? nothing
        : html`<button data-testid="reconnect" @click=${() => this.dispatchEvent(new CustomEvent("retry"))}>
            ${connection.retryNow}
          </button>`}
    </div>`;
  }
}
