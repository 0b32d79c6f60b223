import { LitElement, html, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";

import { catStyle } from "./cat-style.js";
import type { Pose } from "./performer.js";

/** A plain drawn cat that shows a pose; how a pose looks is all in cat-style.ts. */
@customElement("pet-cat")
export class PetCat extends LitElement {
  static override styles = catStyle;

  @property({ attribute: false }) pose!: Pose;

  protected override render(): TemplateResult {
    const { state, gesture, expression } = this.pose;
    return html`
      <svg
        viewBox="0 0 320 330"
        aria-hidden="true"
        data-state=${state}
        data-gesture=${gesture ?? "none"}
        data-expression=${expression ?? "neutral"}
      >
        <ellipse class="ground" cx="162" cy="312" rx="122" ry="11" />
        <path class="tail" d="M222 290C268 300 296 268 284 236c-6-16-22-18-26-6" />
        <g class="body">
          <path class="fur" d="M160 158c42 0 72 52 80 104 6 38-18 52-80 52s-86-14-80-52c8-52 38-104 80-104Z" />
          <path class="bib" d="M160 176c28 0 42 24 39 56-2 24-20 37-39 37s-37-13-39-37c-3-32 11-56 39-56Z" />
          <path class="crease" d="M160 256v46M112 300c-6-22-2-42 10-54M208 300c6-22 2-42-10-54" />
          <ellipse class="paw" cx="135" cy="304" rx="25" ry="13" />
          <ellipse class="paw" cx="185" cy="304" rx="25" ry="13" />
          <path class="crease" d="M128 308v6M142 308v6M178 308v6M192 308v6" />
        </g>
        <g class="head">
          <g class="ear left">
            <path class="fur" d="M88 104C76 72 74 40 82 16c28 8 52 26 66 50Z" />
            <path class="inner" d="M95 84c-6-20-7-36-4-50 16 7 28 17 37 31Z" />
          </g>
          <g class="ear right">
            <path class="fur" d="M232 104c12-32 14-64 6-88-28 8-52 26-66 50Z" />
            <path class="inner" d="M225 84c6-20 7-36 4-50-16 7-28 17-37 31Z" />
          </g>
          <path
            class="fur"
            d="M160 52c48 0 84 30 84 74 0 10-2 19-5 27 4 5 8 9 13 12-7 3-14 4-21 3-16 17-41 26-71 26s-55-9-71-26c-7 1-14 0-21-3 5-3 9-7 13-12-3-8-5-17-5-27 0-44 36-74 84-74Z"
          />
          <path class="stripes" d="M160 58v26M142 62l4 19M178 62l-4 19" />
          <path class="muzzle" d="M160 138c14 0 38 6 38 27 0 16-18 26-38 26s-38-10-38-26c0-21 24-27 38-27Z" />
          <g class="blush"><ellipse cx="104" cy="158" rx="14" ry="8" /><ellipse cx="216" cy="158" rx="14" ry="8" /></g>
          <g class="eyes">
            <g class="open">
              <ellipse class="iris" cx="122" cy="128" rx="18" ry="20" />
              <ellipse class="iris" cx="198" cy="128" rx="18" ry="20" />
              <g class="look">
                <ellipse class="pupil" cx="122" cy="128" rx="8.500" ry="16" />
                <ellipse class="pupil" cx="198" cy="128" rx="8.500" ry="16" />
                <circle class="light" cx="127" cy="120" r="4.500" />
                <circle class="light" cx="203" cy="120" r="4.500" />
              </g>
            </g>
            <path class="shut" d="M104 132c8-13 28-13 36 0M180 132c8-13 28-13 36 0" />
          </g>
          <path class="nose" d="M152 149c5-3 11-3 16 0 1 4-4 9-8 10-4-1-9-6-8-10Z" />
          <path class="mouth" d="M138 166c4 8 20 8 22-4 2 12 18 12 22 4" />
          <path class="mouth wide" d="M132 163c4 14 24 14 28 0 4 14 24 14 28 0" />
          <path class="speak" d="M148 168c8 4 16 4 24 0 1 12-4 18-12 18s-13-6-12-18Z" />
          <path class="whiskers" d="M98 158l-40-8M98 167l-42 3M222 158l40-8M222 167l42 3" />
          <g class="tear one"><path d="M120 152c6 8 8 12 8 16a8 8 0 0 1-16 0c0-4 2-8 8-16Z" /></g>
          <g class="tear two"><path d="M200 152c6 8 8 12 8 16a8 8 0 0 1-16 0c0-4 2-8 8-16Z" /></g>
        </g>
        <g class="collar">
          <path class="band" d="M108 184c30 18 74 18 104 0" />
          <circle class="bell" cx="160" cy="208" r="11" />
          <path class="slit" d="M160 210v6M152 206h16" />
        </g>
      </svg>
    `;
  }
}
