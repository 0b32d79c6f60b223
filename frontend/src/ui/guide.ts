import { LitElement, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";

import type { Connection } from "../connection/connection.js";
import type { Catalogue } from "../i18n/index.js";
import type { Guide, ServerFrameOf } from "../protocol/index.js";
import { guideFor } from "../view.js";
import { failureText } from "./failure.js";
import { guideStyle } from "./guide-style.js";
import "./key-form.js";
import "./model-picker.js";
import { richLine } from "./rich-line.js";
import { shared } from "./shared.js";

const GUIDES: readonly Guide[] = ["ollama", "lmstudio", "builtin", "cloud"];
/** A local server may have to load a model before it answers. */
const TEST_MS = 60_000;

/**
 * How a model is connected, one short list of steps a kind of provider, with a test and a choice of models.
 * Fires `close` and `chosen`.
 */
@customElement("pet-guide")
export class PetGuide extends LitElement {
  static override styles = [shared, guideStyle];

  @property({ attribute: false }) connection!: Connection;
  @property({ attribute: false }) words!: Catalogue;
  /** All providers that lab.toml names. */
  @property({ attribute: false }) providers: readonly string[] = [];
  /** The provider that the chat role has, whatever its name; "" where the choice is left open. */
  @property() current = "";
  /** The guide that the server suggests. */
  @property() suggested: Guide = "ollama";
  /** What is wrong, in a few words. */
  @property() heading = "";
  /** The models are there, only the choice is open. */
  @property({ type: Boolean }) choosing = false;
  /** The person wants another model: the choice stands first, for every role. */
  @property({ type: Boolean }) changing = false;
  @state() private kind: Guide = "ollama";
  @state() private cloud = "";
  @state() private testing = false;
  @state() private tested: ServerFrameOf<"provider.tested"> | null = null;
  @state() private failed: string | null = null;
  @query("h2") private headline!: HTMLElement;

  override focus(): void {
    this.headline.focus();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("suggested")) this.kind = this.suggested;
    if (changed.has("current") && this.#clouds().includes(this.current)) this.cloud = this.current;
    if (changed.has("providers") && !this.providers.includes(this.cloud)) this.cloud = this.#clouds()[0] ?? "";
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has("changing") && this.changing) void this.#findCurrent();
  }

  protected override render(): TemplateResult {
    const { guide } = this.words;
    return html`<section class="guide" data-testid="guide" data-guide=${this.kind} aria-label=${guide.title}>
      <header>
        <h2 tabindex="-1">${this.changing ? this.words.picker.change : this.heading || guide.title}</h2>
        <button class="quiet" data-testid="guide-close" @click=${() => this.dispatchEvent(new CustomEvent("close"))}>
          ${guide.close}
        </button>
      </header>
      <fieldset>
        <legend class="visually-hidden">${guide.which}</legend>
        ${GUIDES.map((kind) => this.#tab(kind))}
      </fieldset>
      <p class="intro">${guide.intro[this.kind]}</p>
      ${this.kind === "cloud" ? this.#cloudSelect() : nothing}
      ${this.choosing || this.changing ? this.#choice() : this.#way()}
    </section>`;
  }

  /** The models first, and how to get others folded below. */
  #choice(): TemplateResult {
    return html`${this.#picker()}
      <details>
        <summary>${this.words.guide.title}</summary>
        <div class="way">${this.#way()}</div>
      </details>`;
  }

  #way(): TemplateResult {
    return html`<ol>
        ${this.words.guide.steps[this.kind].map((step) => html`<li>${richLine(step)}</li>`)}
      </ol>
      ${this.kind === "cloud" ? this.#key() : nothing} ${this.#test()}
      ${!this.choosing && !this.changing && this.tested?.ok ? this.#picker() : nothing}`;
  }

  #tab(kind: Guide): TemplateResult {
    return html`<label>
      <input
        type="radio"
        name="kind"
        data-testid="guide-${kind}"
        .checked=${kind === this.kind}
        @change=${() => this.#choose(kind, this.cloud)}
      />
      <span>${this.words.guide.tabs[kind]}</span>
    </label>`;
  }

  #test(): TemplateResult {
    const { guide } = this.words;
    return html`<div class="test">
      <button class="primary" data-testid="guide-test" ?disabled=${this.testing || !this.#provider()} @click=${this.#run}>
        ${this.testing ? guide.testing : guide.test}
      </button>
      <p role="status" data-testid="guide-result" class=${this.tested?.ok ? "good" : "bad"}>${this.#result()}</p>
    </div>`;
  }

  #key(): TemplateResult | typeof nothing {
    if (!this.cloud) return nothing;
    return html`<pet-key-form
      .connection=${this.connection}
      .words=${this.words}
      .provider=${this.cloud}
      @stored=${this.#run}
    ></pet-key-form>`;
  }

  #cloudSelect(): TemplateResult {
    const change = (event: Event) => this.#choose("cloud", (event.target as HTMLSelectElement).value);
    return html`<select data-testid="guide-provider" aria-label=${this.words.guide.provider} @change=${change}>
      ${this.#clouds().map((name) => html`<option ?selected=${name === this.cloud}>${name}</option>`)}
    </select>`;
  }

  #result(): string {
    const { guide } = this.words;
    if (this.failed !== null) return this.failed;
    if (!this.tested) return "";
    return this.tested.ok ? guide.reached(this.tested.latency_ms) : (this.tested.message ?? guide.notReached);
  }

  #picker(): TemplateResult | typeof nothing {
    const provider = this.#provider();
    if (!provider) return nothing;
    return html`<pet-model-picker
      .connection=${this.connection}
      .words=${this.words}
      .provider=${provider}
      ?anyRole=${this.changing}
      @chosen=${() => this.dispatchEvent(new CustomEvent("chosen"))}
    ></pet-model-picker>`;
  }

  #clouds(): string[] {
    return this.providers.filter((name) => guideFor(name) === "cloud");
  }

  /** The suggested guide is about the chat role's own provider, which may have any name. */
  #provider(): string {
    if (this.kind === "cloud") return this.cloud;
    return this.kind === this.suggested && !this.changing && this.current ? this.current : this.kind;
  }

  #choose(kind: Guide, cloud: string): void {
    this.kind = kind;
    this.cloud = cloud;
    this.tested = this.failed = null;
  }

  /** Begins with the provider that chats now, also where lab.toml leaves the choice open. */
  async #findCurrent(): Promise<void> {
    const status = await this.connection.request<"status">({ type: "status" }).catch(() => null);
    const current = status?.roles.chat?.provider;
    if (current === undefined) return;
    this.kind = guideFor(current);
    if (this.#clouds().includes(current)) this.cloud = current;
  }

  async #run(): Promise<void> {
    const provider = this.#provider();
    this.testing = true;
    this.tested = this.failed = null;
    try {
      const tested = await this.connection.request<"provider.test">({ type: "provider.test", provider }, TEST_MS);
      if (provider === this.#provider()) this.tested = tested;
    } catch (error) {
      if (provider === this.#provider()) this.failed = failureText(error, this.words);
    } finally {
      this.testing = false;
    }
  }
}
