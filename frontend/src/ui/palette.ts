import { css, html, type TemplateResult } from "lit";
import { classMap } from "lit/directives/class-map.js";

import type { Command } from "../commands/commands.js";
import type { Palette } from "../commands/palette.js";
import type { Catalogue } from "../i18n/index.js";

export const PALETTE_ID = "palette";
export const optionId = (command: Command): string => `command-${command}`;

/** The commands above the box; the box itself keeps the focus and is the combobox that they belong to. */
export function paletteView(palette: Palette, words: Catalogue, run: (command: Command) => void): TemplateResult {
  return html`<div class="palette" id=${PALETTE_ID} role="listbox" aria-label=${words.commands.label} data-testid="palette"
      @mousedown=${(event: Event) => event.preventDefault()}>
      ${palette.commands.map(
        (command) => html`<div
          class=${classMap({ option: true, active: command === palette.active })}
          id=${optionId(command)}
          role="option"
          aria-selected=${command === palette.active}
          data-testid="palette-option"
          data-command=${command}
          @click=${() => run(command)}
        >
          <code>/${command}</code><span>${words.help.commands[command]}</span>
        </div>`,
      )}
    </div>
    <div class="visually-hidden" role="status">${words.commands.offered(palette.commands.length)}</div>`;
}

export const paletteStyle = css`
  .palette {
    position: absolute;
    z-index: 2;
    inset-block-end: calc(100% + var(--space-2));
    inset-inline: 0;
    max-height: min(24rem, 50vh);
    padding: var(--space-2);
    border: 1px solid var(--line);
    border-radius: var(--radius);
    background: var(--surface);
    box-shadow: var(--shadow);
    overflow-y: auto;
    scrollbar-width: thin;
  }

  .option {
    display: grid;
    grid-template-columns: minmax(5.5rem, auto) minmax(0, 1fr);
    align-items: baseline;
    gap: var(--space-3);
    padding: var(--space-1) var(--space-2);
    border-radius: var(--radius-s);
    font-size: var(--text-s);
    cursor: pointer;
  }

  .option code {
    padding-inline: 0;
    background: none;
    color: var(--accent);
    font-weight: 600;
  }

  .option:hover {
    background: var(--sunken);
  }

  .option.active {
    background: var(--accent-soft);
  }
`;
