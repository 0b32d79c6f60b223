import { LitElement, css, html, nothing, svg, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";

import { ANSWER_WITHIN_MS, type Question } from "../consent/questions.js";
import type { Catalogue } from "../i18n/index.js";
import { browserClock } from "../lib/clock.js";
import type { ConsentWord } from "../protocol/index.js";
import { shared } from "./shared.js";

const WORDS: readonly ConsentWord[] = ["once", "always", "never"];

/** What happened to an answer: null = it was taken, else what to tell the person. */
export type Answerer = (question: Question, word: ConsentWord) => Promise<string | null>;

/**
 * A tool's question to the owner. It never takes the focus by itself: it stands right before the box, one
 * Shift + Tab away. Fires `left` when it goes while the focus is in it.
 */
@customElement("pet-consent")
export class PetConsent extends LitElement {
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

      section {
        display: grid;
        grid-template-columns: minmax(0, 1fr) auto;
        gap: var(--space-2) var(--space-3);
        padding: var(--space-3) var(--space-4);
        border: 1px solid var(--accent-line);
        border-radius: var(--radius);
        background: var(--accent-soft);
        animation: rise 0.2s ease-out;
      }

      .what {
        font-weight: 600;
      }

      .detail {
        font-size: var(--text-s);
        overflow-wrap: anywhere;
      }

      .time {
        width: 1.75rem;
        height: 1.75rem;
        color: var(--accent);
      }

      .time .track {
        opacity: 0.25;
      }

      .answers {
        grid-column: 1 / -1;
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-2);
      }

      .left {
        color: var(--ink-soft);
        font-size: var(--text-s);
        font-variant-numeric: tabular-nums;
      }

      .bad {
        grid-column: 1 / -1;
        color: var(--bad);
        font-size: var(--text-s);
      }

      @keyframes rise {
        from {
          opacity: 0;
          translate: 0 var(--space-2);
        }
      }
    `,
  ];

  @property({ attribute: false }) question!: Question;
  @property({ attribute: false }) words!: Catalogue;
  @property({ attribute: false }) answer!: Answerer;
  @state() private busy = false;
  @state() private failed: string | null = null;

  #tick: ReturnType<typeof setInterval> | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#tick = setInterval(() => this.requestUpdate(), 1_000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    if (this.#tick !== null) clearInterval(this.#tick);
  }

  /** Whether the person is at one of its buttons. */
  get focused(): boolean {
    return this.shadowRoot?.activeElement != null;
  }

  protected override render(): TemplateResult {
    const { consent } = this.words;
    const { capability, detail } = this.question;
    const left = Math.max(0, this.question.until - browserClock.now());
    return html`<section data-testid="consent" data-capability=${capability} aria-label=${consent.label}>
      <div role="alert">
        <p class="what">${consent.capability[capability]}</p>
        ${detail ? html`<p class="detail" data-testid="consent-detail">${detail}</p>` : nothing}
      </div>
      ${ring(left / ANSWER_WITHIN_MS)}
      <div class="answers">
        ${WORDS.map((word) => this.#button(word))}
        <span class="left" data-testid="consent-left">${consent.left(Math.ceil(left / 1_000))}</span>
      </div>
      ${this.failed === null ? nothing : html`<p class="bad" role="status">${this.failed}</p>`}
    </section>`;
  }

  #button(word: ConsentWord): TemplateResult {
    return html`<button
      class=${word === "once" ? "primary" : ""}
      data-testid="consent-${word}"
      aria-disabled=${this.busy ? "true" : "false"}
      @click=${() => this.#answered(word)}
    >
      ${this.words.consent[word]}
    </button>`;
  }

  async #answered(word: ConsentWord): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.failed = await this.answer(this.question, word);
    this.busy = false;
  }
}

/** A ring that empties; the words beside it say the same. */
function ring(share: number): TemplateResult {
  return html`<svg class="time" viewBox="0 0 28 28" fill="none" stroke="currentColor" stroke-width="3" aria-hidden="true">
    ${svg`<circle class="track" cx="14" cy="14" r="11" />
      <circle cx="14" cy="14" r="11" pathLength="100" stroke-dasharray="${share * 100} 100" transform="rotate(-90 14 14)" />`}
  </svg>`;
}
