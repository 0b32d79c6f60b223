import { LitElement, html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";

import type { Message } from "../chat/model.js";
import type { Catalogue } from "../i18n/index.js";
import { addressOf, type Picture } from "../pictures/picture.js";
import "./activity.js";
import "./copy-button.js";
import { costView } from "./cost.js";
import { againIcon, editIcon } from "./icons.js";
import "./prose.js";

/**
 * A finished message. Fires `send-again` for one that did not get through, `enlarge` for a picture, `edit` and
 * `regenerate` where these are offered.
 */
@customElement("pet-message")
export class PetMessage extends LitElement {
  @property({ attribute: false }) message!: Message;
  @property({ attribute: false }) words!: Catalogue;
  /** It is the person's newest. */
  @property({ type: Boolean }) editable = false;
  /** It is the newest reply, and its question can be asked once more. */
  @property({ type: Boolean }) repeatable = false;

  /** In its parent's root, so that text can be selected across messages. */
  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const { role, reasoning, activity, at, cost } = this.message;
    const { chat, name } = this.words;
    const own = role === "user";
    return html`
      ${activity ? html`<pet-activity .activity=${activity} .words=${this.words}></pet-activity>` : nothing}
      <article class="bubble ${own ? "own" : "reply"}" aria-label=${own ? chat.you : name}>
        ${reasoning ? thoughts(chat.thoughts, reasoning) : nothing} ${this.#pictures()} ${this.#text(own)}
      </article>
      ${this.#notes()}
      <div class="foot">${costView(at, cost, this.words)} ${this.#actions()}</div>
    `;
  }

  #actions(): TemplateResult {
    const { chat } = this.words;
    const { text } = this.message;
    return html`<div class="actions">
      ${text
        ? html`<pet-copy-button data-testid="copy" .text=${text} .label=${chat.copy} .done=${chat.copied}
            .refused=${chat.copyRefused}></pet-copy-button>`
        : nothing}
      ${this.editable ? this.#action("edit", chat.edit, editIcon) : nothing}
      ${this.repeatable ? this.#action("regenerate", chat.regenerate, againIcon) : nothing}
    </div>`;
  }

  #action(name: "edit" | "regenerate", label: string, icon: TemplateResult): TemplateResult {
    const fire = () => this.dispatchEvent(new CustomEvent(name, { bubbles: true, composed: true }));
    return html`<button type="button" class="quiet" data-testid=${name} aria-label=${label} title=${label} @click=${fire}>${icon}</button>`;
  }

  #text(own: boolean): TemplateResult | typeof nothing {
    const { text, images, pictures } = this.message;
    if (!own) return html`<pet-prose data-testid="text" .text=${text} .words=${this.words}></pet-prose>`;
    // A message of pictures alone says at least that, once the pictures are gone.
    const shown = text || (pictures.length === 0 && images > 0 ? this.words.chat.images(images) : "");
    return shown ? html`<div class="text" data-testid="text">${shown}</div>` : nothing;
  }

  #pictures(): TemplateResult | typeof nothing {
    const { pictures } = this.message;
    if (pictures.length === 0) return nothing;
    return html`<div class="pictures">${pictures.map((picture, index) => this.#picture(picture, index + 1))}</div>`;
  }

  #picture(picture: Picture, number: number): TemplateResult {
    const label = picture.name || this.words.pictures.sent(number);
    const detail = { src: addressOf(picture), label };
    const enlarge = () => this.dispatchEvent(new CustomEvent("enlarge", { bubbles: true, composed: true, detail }));
    return html`<button title=${this.words.activity.enlarge} @click=${enlarge}>
      <img src=${detail.src} alt=${label} width=${picture.width} height=${picture.height} />
    </button>`;
  }

  #notes(): TemplateResult | typeof nothing {
    const { chat } = this.words;
    const { state, origin, images, pictures, role, error, text } = this.message;
    const notes: string[] = [];
    if (images > 0 && pictures.length === 0 && text) notes.push(chat.images(images));
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
