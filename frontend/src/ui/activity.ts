import { LitElement, html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";

import { share, steps, type Activity, type Call, type Sight } from "../chat/activity.js";
import { seconds, percent } from "../i18n/format.js";
import type { Catalogue } from "../i18n/index.js";
import { outcomeIcon } from "./icons.js";
import { doing, takesScreenshot, toolName } from "./tool-names.js";

/** So many calls fit into the folded line. */
const IN_LINE = 4;
/** What took less would show as 0 seconds. */
const INSTANT_MS = 50;
/** Outcomes whose one word says it all, in the page's language; the reason is meant for the model. */
const SAID: ReadonlySet<Call["outcome"]> = new Set(["denied", "cancelled"]);

/**
 * What a turn does besides talking: one calm line that unfolds to every call, and each picture that a tool
 * took. Fires `enlarge` with `{src, label}`.
 */
@customElement("pet-activity")
export class PetActivity extends LitElement {
  @property({ attribute: false }) activity!: Activity;
  @property({ attribute: false }) words!: Catalogue;
  /** The tools' part of the turn still runs. */
  @property({ type: Boolean }) live = false;

  /** In its parent's root, so that text can be selected across messages. */
  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const { calls, sights } = this.activity;
    return html`
      ${calls.length > 0
        ? html`<details class="calls" data-testid="activity" data-live=${this.live ? "true" : "false"}>
            <summary data-testid="activity-summary">${this.live ? this.#now() : this.#sum()}</summary>
            ${this.#steps()}
          </details>`
        : nothing}
      ${sights.map((sight) => this.#sight(sight))}
      ${calls.map((call) => (call.picture === null ? nothing : this.#picture(call, call.picture)))}
    `;
  }

  /** What goes on at this moment, the newest calls in the line itself. */
  #now(): TemplateResult {
    const { calls } = this.activity;
    const hidden = calls.length - IN_LINE;
    return html`<span class="doing">${this.words.activity.doing[doing(calls)]}</span>
      ${hidden > 0 ? html`<span class="brief">+${hidden}</span>` : nothing}
      ${calls.slice(-IN_LINE).map((call) => this.#brief(call))}`;
  }

  #brief(call: Call): TemplateResult {
    const { words } = this;
    return html`<span class="brief ${call.outcome}">
      ${outcomeIcon(call.outcome)} ${toolName(call.name, words)}
      ${call.ms === null || call.ms < INSTANT_MS || call.outcome !== "ok" ? nothing : html`<span class="ms">${seconds(call.ms, words.tag)}</span>`}
      <span class="visually-hidden">${words.activity.outcome[call.outcome]}</span>
    </span>`;
  }

  /** "3 tools · 2.4s", and whether one of them gave nothing. */
  #sum(): TemplateResult {
    const { activity, tag } = this.words;
    const { calls, ms } = this.activity;
    const failed = calls.filter(({ outcome }) => outcome !== "ok" && outcome !== "deferred").length;
    const parts = [activity.tools(calls.length)];
    if (ms !== null && ms >= INSTANT_MS) parts.push(seconds(ms, tag));
    if (failed > 0) parts.push(activity.failed(failed));
    return html`${parts.join(" · ")}`;
  }

  #steps(): TemplateResult {
    const grouped = steps(this.activity.calls);
    const several = grouped.length > 1;
    return html`<div class="steps">
      ${grouped.map((together) => {
        const [first] = together;
        const label = this.words.activity.step(first?.step ?? 1);
        return html`${several ? html`<p class="step">${label}</p>` : nothing}
          <ul aria-label=${label}>
            ${repeat(together, ({ id }) => id, (call) => html`<li>${this.#call(call)}</li>`)}
          </ul>`;
      })}
    </div>`;
  }

  #call(call: Call): TemplateResult {
    const { words } = this;
    const { outcome, name, ms, error } = call;
    return html`<div class="call ${outcome}" data-testid="tool-call" data-name=${name} data-outcome=${outcome}>
      ${outcomeIcon(outcome)}
      <span class="tool">${toolName(name, words)}</span>
      <code>${name}</code>
      <span class="how">
        ${outcome === "ok" ? nothing : words.activity.outcome[outcome]}
        ${outcome === "ok" ? html`<span class="visually-hidden">${words.activity.outcome.ok}</span>` : nothing}
        ${ms === null || ms < INSTANT_MS ? nothing : html`<span class="ms">${seconds(ms, words.tag)}</span>`}
      </span>
      ${error === null || SAID.has(outcome) ? nothing : html`<p class="why">${error}</p>`} ${this.#progress(call)}
    </div>`;
  }

  #progress({ progress }: Call): TemplateResult | typeof nothing {
    if (!progress) return nothing;
    const part = share(progress);
    return html`<p class="why">
      ${part === null ? nothing : html`<progress max="1" .value=${part} aria-hidden="true"></progress> ${percent(part, this.words.tag)}`}
      ${progress.note ?? nothing}
    </p>`;
  }

  #sight({ images, outcome, ms }: Sight): TemplateResult {
    const { activity, tag } = this.words;
    const seen = outcome === "ok";
    return html`<p class="sight" data-testid="vision" data-outcome=${outcome}>
      ${outcomeIcon(outcome)} ${seen ? activity.seen(images) : activity.unseen(images)}
      ${seen ? html`<span class="ms">${seconds(ms, tag)}</span>` : nothing}
    </p>`;
  }

  #picture(call: Call, src: string): TemplateResult {
    const { activity } = this.words;
    const label = takesScreenshot(call.name) ? activity.shot : activity.picture;
    const enlarge = () =>
      this.dispatchEvent(new CustomEvent("enlarge", { bubbles: true, composed: true, detail: { src, label } }));
    return html`<button class="shot" data-testid="screenshot" title=${activity.enlarge} @click=${enlarge}>
      <img src=${src} alt="" /><span>${label}</span>
      <span class="visually-hidden">${activity.enlarge}</span>
    </button>`;
  }
}
