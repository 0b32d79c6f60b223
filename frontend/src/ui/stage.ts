import { LitElement, html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";

import type { Catalogue } from "../i18n/index.js";
import "../stage/cat.js";
import type { Pose } from "../stage/performer.js";
import type { ThemeChoice } from "../theme/theme.js";
import type { Headline } from "../view.js";
import { statusIcon, themeIcon } from "./icons.js";
import { shared } from "./shared.js";
import { stageStyle } from "./stage-style.js";

/** The character, its name and how it is. Fires `toggle-language`, `change-theme` and `open-status`. */
@customElement("pet-stage")
export class PetStage extends LitElement {
  static override styles = [shared, stageStyle];

  @property({ attribute: false }) pose!: Pose;
  @property({ attribute: false }) headline!: Headline;
  @property({ attribute: false }) words!: Catalogue;
  @property() theme: ThemeChoice = "system";
  /** What it says while it waits; null = nothing. */
  @property({ attribute: false }) waiting: string | null = null;

  protected override render(): TemplateResult {
    const { words, headline } = this;
    const { state, expression } = this.pose;
    return html`
      <pet-cat
        role="img"
        aria-label=${words.stage.label}
        data-testid="stage"
        data-state=${state}
        data-talking=${state === "talking" ? "true" : "false"}
        data-gesture=${this.pose.gesture ?? "none"}
        data-expression=${expression ?? "neutral"}
        .pose=${this.pose}
      ></pet-cat>
      <div class="who">
        <h1 class="name">${words.name}</h1>
        <div class="state" data-testid="state-line" data-state=${headline}>${words.state[headline]}</div>
      </div>
      <div class="aside" role="status">
        ${this.waiting === null ? nothing : html`<p data-testid="waiting">${this.waiting}</p>`}
      </div>
      <div class="controls">
        <button class="quiet" data-testid="status-open" aria-label=${words.status.open} title="${words.status.open} (/status)"
          @click=${() => this.dispatchEvent(new CustomEvent("open-status"))}>${statusIcon}</button>
        <button class="quiet" data-testid="theme-toggle" data-theme=${this.theme}
          aria-label="${words.theme.label}: ${words.theme[this.theme]}" title="${words.theme.label}: ${words.theme[this.theme]}"
          @click=${() => this.dispatchEvent(new CustomEvent("change-theme"))}>${themeIcon(this.theme)}</button>
        <button
          class="quiet"
          data-testid="language-toggle"
          title=${words.language.switchTo}
          @click=${() => this.dispatchEvent(new CustomEvent("toggle-language"))}
        >
          ${words.language.other}
        </button>
      </div>
    `;
  }
}
