import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";

import type { Catalogue } from "../i18n/index.js";
import { addressOf, type Picture } from "../pictures/picture.js";
import type { Complaint, Tray } from "../pictures/tray.js";
import { closeIcon } from "./icons.js";
import { shared } from "./shared.js";

/** The pictures that go out with the next message. Fires `remove` with the picture. */
@customElement("pet-picture-tray")
export class PetPictureTray extends LitElement {
  static override styles = [
    shared,
    css`
      ul {
        display: flex;
        flex-wrap: wrap;
        gap: var(--space-2);
        padding: var(--space-1) var(--space-1) var(--space-2);
        list-style: none;
      }

      li {
        position: relative;
      }

      img {
        display: block;
        width: 4.5rem;
        height: 4.5rem;
        border: 1px solid var(--line);
        border-radius: var(--radius-s);
        background: var(--sunken);
        object-fit: cover;
      }

      button {
        position: absolute;
        inset-block-start: calc(-1 * var(--space-2));
        inset-inline-end: calc(-1 * var(--space-2));
        width: 1.75rem;
        min-height: 1.75rem;
        padding: 0.3rem;
        color: var(--ink);
      }

      p {
        padding: 0 var(--space-2) var(--space-1);
        color: var(--ink-soft);
        font-size: var(--text-s);
        overflow-wrap: anywhere;
      }

      .bad {
        color: var(--bad);
      }
    `,
  ];

  @property({ attribute: false }) tray!: Tray;
  @property({ attribute: false }) words!: Catalogue;

  protected override render(): TemplateResult {
    const { pictures, reading, complaints } = this.tray;
    const { pictures: text } = this.words;
    return html`
      ${pictures.length === 0
        ? nothing
        : html`<ul aria-label=${text.label} data-testid="pictures">
            ${repeat(pictures, (picture) => picture, (picture) => html`<li>${this.#picture(picture)}</li>`)}
          </ul>`}
      <div role="status">
        ${reading > 0 ? html`<p>${text.reading(reading)}</p>` : nothing}
        ${complaints.map((complaint) => html`<p class="bad" data-testid="picture-complaint">${this.#say(complaint)}</p>`)}
      </div>
    `;
  }

  #picture(picture: Picture): TemplateResult {
    const label = this.words.pictures.remove(picture.name);
    return html`<img src=${addressOf(picture)} alt=${picture.name} />
      <button type="button" data-testid="picture-remove" aria-label=${label} title=${label}
        @click=${() => this.dispatchEvent(new CustomEvent("remove", { detail: picture }))}>${closeIcon}</button>`;
  }

  #say(complaint: Complaint): string {
    const { pictures: text } = this.words;
    return complaint.kind === "many" ? text.many(complaint.most, complaint.left) : text[complaint.kind](complaint.name);
  }
}
