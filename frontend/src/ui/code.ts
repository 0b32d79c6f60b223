import DOMPurify from "dompurify";
import { LitElement, html, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, query } from "lit/decorators.js";

import { highlighter, isTooLong, readyHighlighter } from "../code/highlight.js";
import { languageOf } from "../code/languages.js";
import type { Catalogue } from "../i18n/index.js";
import "./copy-button.js";

/** Colours take at most this share of the time while code is still being written. */
const SHARE = 0.1;

/** A block of code with its language and a button that copies it. Stands in its parent's root. */
@customElement("pet-code")
export class PetCode extends LitElement {
  @property({ attribute: false }) code = "";
  @property({ attribute: false }) language = "";
  @property({ attribute: false }) words!: Catalogue;
  @query("code") private readonly place!: HTMLElement;

  /** What `place` shows so far. */
  #shown = "";
  #paintAgainAt = 0;
  #timer = 0;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
  }

  protected override render(): TemplateResult {
    const { copyCode, copied, copyRefused } = this.words.chat;
    return html`<div class="code-head">
        <span dir="ltr">${this.language}</span>
        <pet-copy-button data-testid="code-copy" .text=${this.code} .label=${copyCode} .done=${copied}
          .refused=${copyRefused}></pet-copy-button>
      </div>
      <pre tabindex="0" dir="ltr"><code></code></pre>`;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (!changed.has("code") && !changed.has("language")) return;
    this.#write();
    this.#colour();
  }

  /** What came since is appended without colours first: what has them keeps them. */
  #write(): void {
    if (this.code === this.#shown) return;
    if (this.code.startsWith(this.#shown)) this.place.append(this.code.slice(this.#shown.length));
    else this.place.textContent = this.code;
    this.#shown = this.code;
  }

  #colour(): void {
    const language = languageOf(this.language);
    if (language === null || isTooLong(this.code)) return;
    clearTimeout(this.#timer);
    const wait = this.#paintAgainAt - performance.now();
    if (wait > 0) this.#timer = window.setTimeout(() => this.#colour(), wait);
    else if (readyHighlighter(language)) this.#paint(language);
    else void highlighter(language).then(() => this.#paint(language));
  }

  #paint(language: string): void {
    const highlight = readyHighlighter(language);
    if (!highlight || language !== languageOf(this.language) || isTooLong(this.code)) return;
    const began = performance.now();
    const coloured = DOMPurify.sanitize(highlight(this.code), {
      ALLOWED_TAGS: ["span"],
      ALLOWED_ATTR: ["class"],
      RETURN_DOM_FRAGMENT: true,
    });
    this.place.replaceChildren(coloured);
    this.#shown = this.code;
    const now = performance.now();
    this.#paintAgainAt = now + (now - began) / SHARE;
  }
}
