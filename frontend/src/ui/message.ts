import { LitElement, html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";

import type { Message } from "../chat/model.js";
import type { Catalogue } from "../i18n/index.js";
import "./prose.js";

/** A finished message. Fires `send-again` for one that did not get through. */
@customElement("pet-message")
export class PetMessage extends LitElement {
  @property({ attribute: false }) message!: Message;
  @property({ attribute: false }) words!: Catalogue;

  /** In its parent's root, so that text can be selected across messages. */
  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const { role, text, reasoning } = this.message;
    const own = role === "user";
    return html`
      <article class="bubble ${own ? "own" : "reply"}" aria-label=${own ? this.words.chat.you : this.words.name}>
        ${reasoning ? thoughts(this.words.chat.thoughts, reasoning) : nothing}
        ${own
          ? html`<div class="text" data-testid="text">${text}</div>`
          : html`<pet-prose data-testid="text" .text=${text}></pet-prose>`}
      </article>
      ${this.#notes()}
    `;
  }

  #notes(): TemplateResult | typeof nothing {
    const { chat } = this.words;
    const { state, origin, images, role, error } = this.message;
    const notes: string[] = [];
    if (images > 0) notes.push(chat.images(images));
    if (origin === "nudge") notes.push(chat.nudge);
    if (state !== "done") notes.push(chat[state]);
    if (role === "user" && error !== null) notes.push(chat.failed);
    const again = state === "unsure" || state === "refused";
    if (notes.length === 0) return nothing;
    return html`<div class="notes">
      ${notes.join(" · ")}
      ${again ? html`<button class="quiet" @click=${this.#sendAgain}>${chat.sendAgain}</button>` : nothing}
    </div>`;
  }

  #sendAgain(): void {
    this.dispatchEvent(new CustomEvent("send-again", { bubbles: true, composed: true }));
  }
}

/** Thinking text, folded. */
export function thoughts(label: string, text: string): TemplateResult {
  return html`<details class="thoughts">
    <summary>${label}</summary>
    <div class="text">${text}</div>
  </details>`;
}
