import { LitElement, css, html, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";

import { COMMANDS } from "../commands/commands.js";
import type { Catalogue } from "../i18n/index.js";
import { panelStyle } from "./panel-style.js";
import { shared } from "./shared.js";

/** What the companion can do today, and how it is asked for. */
@customElement("pet-help-panel")
export class PetHelpPanel extends LitElement {
  static override styles = [
    shared,
    panelStyle,
    css`
      .about {
        gap: var(--space-2);
        padding-inline-start: 1.2em;
        list-style: disc;
      }

      dl {
        display: grid;
        grid-template-columns: auto minmax(0, 1fr);
        gap: var(--space-1) var(--space-4);
        margin: 0;
      }

      dd {
        margin: 0;
      }

      kbd {
        font: inherit;
        font-weight: 600;
      }
    `,
  ];

  @property({ attribute: false }) words!: Catalogue;

  protected override render(): TemplateResult {
    const { help } = this.words;
    return html`<div class="panel" data-testid="help-panel">
      <ul class="about">
        ${help.about.map((line) => html`<li>${line}</li>`)}
      </ul>
      <h3>${help.commandsTitle}</h3>
      <dl>
        ${COMMANDS.map((command) => html`<dt><code>/${command}</code></dt><dd>${help.commands[command]}</dd>`)}
      </dl>
      <h3>${help.keysTitle}</h3>
      <dl>
        <dt><kbd>Enter</kbd></dt><dd>${help.keys.send}</dd>
        <dt><kbd>Shift + Enter</kbd></dt><dd>${help.keys.line}</dd>
        <dt><kbd>↑</kbd></dt><dd>${help.keys.edit}</dd>
        <dt><kbd>Esc</kbd></dt><dd>${help.keys.stop}</dd>
      </dl>
    </div>`;
  }
}
