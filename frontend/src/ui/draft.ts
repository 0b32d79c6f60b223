import { LitElement, html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";

import type { Draft } from "../chat/model.js";
import type { Catalogue } from "../i18n/index.js";
import "./activity.js";
import { thoughts } from "./message.js";
import "./prose.js";

/** The reply that is being written. */
@customElement("pet-draft")
export class PetDraft extends LitElement {
  @property({ attribute: false }) draft!: Draft;
  @property({ attribute: false }) words!: Catalogue;

  /** In its parent's root, so that text can be selected across messages. */
  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const { text, reasoning, origin, activity } = this.draft;
    const { chat, name } = this.words;
    return html`
      ${activity ? html`<pet-activity ?live=${!text} .activity=${activity} .words=${this.words}></pet-activity>` : nothing}
      <article class="bubble reply" aria-label=${name}>
        ${reasoning ? thoughts(text ? chat.thoughts : chat.thinkingNow, reasoning) : nothing}
        ${text
          ? html`<pet-prose live data-testid="text" .text=${text} .words=${this.words}></pet-prose>`
          : html`<div class="dots" role="img" aria-label=${chat.thinkingNow}><i></i><i></i><i></i></div>`}
      </article>
      ${origin === "nudge" ? html`<div class="notes">${chat.nudge}</div>` : nothing}
    `;
  }
}
