import { LitElement, css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";

import type { Catalogue } from "../i18n/index.js";
import type { TextStorage } from "../lib/storage.js";
import { sends } from "./composer-keys.js";
import { sendIcon, stopIcon } from "./icons.js";
import { shared } from "./shared.js";

const DRAFT_KEY = "pet.draft";
/** Of the window's height, at most. */
const TALLEST_SHARE = 0.4;

/** The box to write in. Fires `send` with the text as its cancelable detail, and `stop`. */
@customElement("pet-composer")
export class PetComposer extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: block;
        max-width: var(--column);
        width: 100%;
        margin: 0 auto;
        padding: 0 var(--gutter) max(var(--space-3), env(safe-area-inset-bottom));
      }

      form {
        display: flex;
        align-items: flex-end;
        gap: var(--space-2);
        padding: var(--space-2);
        border: 1px solid var(--line);
        border-radius: calc(var(--radius) + var(--space-2));
        background: var(--surface);
        box-shadow: var(--shadow);
        transition: border-color 0.15s;
      }

      form:has(textarea:focus-visible) {
        border-color: var(--accent);
        box-shadow: 0 0 0 1px var(--accent), var(--shadow);
      }

      textarea:focus-visible {
        outline: 0;
      }

      textarea {
        flex: 1;
        min-width: 0;
        height: 2.5rem;
        max-height: 40vh;
        padding: 0.45rem var(--space-2);
        border: 0;
        background: none;
        line-height: 1.6;
        resize: none;
        overflow-y: auto;
        scrollbar-width: thin;
      }

      textarea::placeholder {
        color: var(--ink-soft);
        opacity: 1;
      }

      button {
        flex: none;
        width: 2.5rem;
        height: 2.5rem;
        padding: 0;
        border-radius: 50%;
      }

      .stop {
        border-color: var(--accent);
        color: var(--accent);
      }

      .below {
        min-height: 1.5em;
        padding: var(--space-1) var(--space-4) 0;
        color: var(--ink-soft);
        font-size: 0.75rem;
      }

      .below.bad {
        color: var(--bad);
      }

      @media (max-width: 40rem), (pointer: coarse) {
        .below:not(.bad) {
          display: none;
        }
      }
    `,
  ];

  @property({ attribute: false }) words!: Catalogue;
  @property({ attribute: false }) kept!: TextStorage;
  @property({ type: Boolean }) writing = false;
  @property({ type: Number }) maxChars = Number.POSITIVE_INFINITY;
  @state() private text = "";
  @state() private full = false;
  @query("textarea") private box!: HTMLTextAreaElement;

  #compositionEndedAt = Number.NEGATIVE_INFINITY;

  override focus(): void {
    this.box.focus();
  }

  protected override willUpdate(): void {
    if (!this.hasUpdated) this.text = this.kept.get(DRAFT_KEY) ?? "";
  }

  protected override updated(changed: PropertyValues): void {
    if (changed.has("text")) this.#fit();
  }

  protected override render(): TemplateResult {
    const { composer } = this.words;
    const over = this.#over();
    const complaint = over > 0 ? composer.tooLong(over) : this.full ? composer.full : null;
    return html`
      <form @submit=${this.#submit}>
        <textarea
          data-testid="composer"
          rows="1"
          aria-label=${composer.label}
          aria-describedby="below"
          placeholder=${composer.placeholder}
          .value=${this.text}
          @input=${this.#typed}
          @keydown=${this.#pressed}
          @compositionend=${(event: CompositionEvent) => (this.#compositionEndedAt = event.timeStamp)}
        ></textarea>
        ${this.writing
          ? html`<button type="button" class="stop" data-testid="stop" title="${composer.stop} (Esc)"
              aria-label=${composer.stop} @click=${this.#stop}>${stopIcon}</button>`
          : nothing}
        <button class="primary" data-testid="send" title=${composer.send} aria-label=${composer.send}
          ?disabled=${!this.#sendable()}>${sendIcon}</button>
      </form>
      <p id="below" class="below ${complaint ? "bad" : ""}" role=${complaint ? "alert" : nothing}>
        ${complaint ?? composer.hint}
      </p>
    `;
  }

  #typed(): void {
    this.full = false;
    this.#keep(this.box.value);
  }

  #keep(text: string): void {
    this.text = text;
    this.kept.set(DRAFT_KEY, text === "" ? null : text);
  }

  #pressed(event: KeyboardEvent): void {
    if (!sends(event, this.#compositionEndedAt)) return;
    event.preventDefault();
    this.#send();
  }

  #submit(event: Event): void {
    event.preventDefault();
    this.#send();
    this.focus();
  }

  #send(): void {
    if (!this.#sendable()) return;
    const taken = this.dispatchEvent(new CustomEvent("send", { detail: this.text, cancelable: true }));
    if (taken) this.#keep("");
    else this.full = true;
  }

  #stop(): void {
    this.dispatchEvent(new CustomEvent("stop"));
    this.focus();
  }

  #sendable(): boolean {
    return this.text.trim() !== "" && this.#over() === 0;
  }

  /** Characters (not UTF-16 units) beyond the server's limit. */
  #over(): number {
    if (this.text.length <= this.maxChars) return 0;
    return Math.max(0, [...this.text].length - this.maxChars);
  }

  /** As tall as its text, up to a share of the window. */
  #fit(): void {
    this.box.style.height = "";
    const wanted = Math.min(this.box.scrollHeight, window.innerHeight * TALLEST_SHARE);
    this.box.style.height = `${wanted}px`;
  }
}
