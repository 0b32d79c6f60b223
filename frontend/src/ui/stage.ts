import { LitElement, css, html, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";

import type { Catalogue } from "../i18n/index.js";
import "../stage/cat.js";
import type { Pose } from "../stage/performer.js";
import type { Headline } from "../view.js";
import { shared } from "./shared.js";

/** The character, its name and how it is. Fires `toggle-language`. */
@customElement("pet-stage")
export class PetStage extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: grid;
        grid-template: "cat who language" auto / auto 1fr auto;
        align-items: center;
        column-gap: var(--space-3);
        padding: var(--space-2) var(--gutter);
      }

      pet-cat {
        grid-area: cat;
        width: 4.5rem;
        height: 4.5rem;
      }

      .who {
        grid-area: who;
        min-width: 0;
      }

      .name {
        font-size: var(--text-l);
        font-weight: 700;
        line-height: 1.3;
      }

      .state {
        display: flex;
        align-items: center;
        gap: var(--space-2);
        color: var(--ink-soft);
        font-size: var(--text-s);
        line-height: 1.4;
      }

      .state::before {
        content: "";
        flex: none;
        width: 0.5rem;
        height: 0.5rem;
        border-radius: 50%;
        background: var(--ink-soft);
      }

      .state[data-state="ready"]::before,
      .state[data-state="thinking"]::before,
      .state[data-state="streaming"]::before {
        background: var(--good);
      }

      .state[data-state="demo"]::before {
        background: var(--accent);
      }

      .state[data-state="error"]::before,
      .state[data-state="offline"]::before {
        background: var(--bad);
      }

      .language {
        grid-area: language;
      }

      @media (min-width: 56rem) {
        :host {
          grid-template: "." 1fr "cat" auto "who" auto "language" 1fr / 1fr;
          justify-items: center;
          row-gap: var(--space-4);
          padding: var(--space-5);
        }

        pet-cat {
          width: min(100%, 34rem, 50vh);
          height: auto;
          aspect-ratio: 320 / 330;
        }

        .who {
          text-align: center;
        }

        .name {
          font-size: calc(var(--text-l) * 1.2);
        }

        .state {
          justify-content: center;
        }

        .language {
          align-self: end;
          justify-self: start;
        }
      }
    `,
  ];

  @property({ attribute: false }) pose!: Pose;
  @property({ attribute: false }) headline!: Headline;
  @property({ attribute: false }) words!: Catalogue;

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
        <div class="name">${words.name}</div>
        <div class="state" data-testid="state-line" data-state=${headline}>${words.state[headline]}</div>
      </div>
      <button
        class="quiet language"
        data-testid="language-toggle"
        aria-label=${words.language.switchTo}
        @click=${() => this.dispatchEvent(new CustomEvent("toggle-language"))}
      >
        ${words.language.other}
      </button>
    `;
  }
}
