import { LitElement, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";

import type { Companion } from "../companion.js";
import { guideNeed, headline } from "../view.js";
import { appStyle } from "./app-style.js";
import "./composer.js";
import type { PetComposer } from "./composer.js";
import "./connection-bar.js";
import "./demo-banner.js";
import "./door.js";
import "./guide.js";
import { shared } from "./shared.js";
import "./stage.js";
import "./transcript.js";
import type { PetTranscript } from "./transcript.js";
import { Watch } from "./watch.js";

/** The page: the character beside (or above) the chat. */
@customElement("pet-app")
export class PetApp extends LitElement {
  static override styles = [shared, appStyle];

  @property({ attribute: false }) companion: Companion | null = null;
  /** The person's own wish; null leaves it to the state whether the guide shows. */
  @state() private guideWish: boolean | null = null;
  @query("pet-composer") private composer!: PetComposer | null;
  @query("pet-transcript") private transcript!: PetTranscript | null;

  #watch: Watch | null = null;
  #stateBefore: string | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener("keydown", this.#escape);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener("keydown", this.#escape);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const { companion } = this;
    if (changed.has("companion") && companion && !this.#watch) {
      const { chat, server, providers, limits, door, performer, connection, language } = companion;
      this.#watch = new Watch(this, () => [
        chat, server, providers, limits, door, performer.pose, connection.status, language.locale,
      ]);
    }
    // A guide that was closed comes back when something else is wrong.
    const now = companion?.server.value?.state ?? null;
    if (now !== this.#stateBefore && now !== "streaming") {
      if (now !== "ready" || this.#stateBefore === "model-selection") this.guideWish = null;
      this.#stateBefore = now;
    }
  }

  protected override updated(): void {
    const { language } = this.companion ?? {};
    if (!language) return;
    document.documentElement.lang = language.locale.value;
    document.title = language.words.name;
  }

  protected override firstUpdated(): void {
    if (window.matchMedia("(pointer: fine)").matches) void this.updateComplete.then(() => this.composer?.focus());
  }

  protected override render(): TemplateResult | typeof nothing {
    const { companion } = this;
    if (!companion) return nothing;
    const { words } = companion.language;
    const status = companion.connection.status.value;
    const draft = companion.chat.value.draft;
    return html`
      <pet-stage
        .pose=${companion.performer.pose.value}
        .headline=${headline(status, companion.server.value, draft ? draft.text !== "" : null)}
        .words=${words}
        @toggle-language=${() => companion.language.toggle()}
      ></pet-stage>
      <main>
        ${status.phase === "refused" ? this.#door(companion) : this.#chat(companion)}
      </main>
    `;
  }

  #door(companion: Companion): TemplateResult {
    return html`<pet-door
      .door=${companion.door.value}
      .words=${companion.language.words}
      @token=${(event: CustomEvent<string>) => {
        if (!companion.useToken(event.detail)) event.preventDefault();
      }}
    ></pet-door>`;
  }

  #chat(companion: Companion): TemplateResult {
    const { words } = companion.language;
    const chat = companion.chat.value;
    return html`
      ${this.#connectionBar(companion)} ${this.#guideOrBanner(companion)}
      <pet-transcript
        .chat=${chat}
        .words=${words}
        @send-again=${(event: CustomEvent<{ key: string; text: string }>) => {
          companion.sendAgain(event.detail.key, event.detail.text);
          this.transcript?.toEnd();
        }}
      ></pet-transcript>
      <pet-composer
        .words=${words}
        .kept=${companion.tabOnly}
        .writing=${chat.draft !== null}
        .maxChars=${companion.limits.value?.max_text_chars ?? Number.POSITIVE_INFINITY}
        @send=${(event: CustomEvent<string>) => {
          if (!companion.send(event.detail)) event.preventDefault();
          this.transcript?.toEnd();
        }}
        @stop=${() => companion.stop()}
      ></pet-composer>
      <div class="visually-hidden" aria-live="polite" data-testid="spoken">
        ${chat.sentences.map((sentence) => html`<p>${sentence}</p>`)}
      </div>
    `;
  }

  #connectionBar(companion: Companion): TemplateResult | typeof nothing {
    const status = companion.connection.status.value;
    const gone = status.phase === "offline" || (status.phase === "connecting" && !status.first);
    if (!gone) return nothing;
    return html`<pet-connection-bar
      data-testid="connection-bar"
      .status=${status}
      .words=${companion.language.words}
      @retry=${() => companion.connection.wake()}
    ></pet-connection-bar>`;
  }

  #guideOrBanner(companion: Companion): TemplateResult | typeof nothing {
    const server = companion.server.value;
    const { words } = companion.language;
    const need = guideNeed(server);
    const demo = server?.detail === "demo" && need === "none";
    const banner = demo
      ? html`<pet-demo-banner
          data-testid="demo-banner"
          .words=${words}
          .tabOnly=${companion.tabOnly}
          ?brief=${this.guideWish === true}
          @connect=${() => (this.guideWish = true)}
        ></pet-demo-banner>`
      : nothing;
    if (this.guideWish ?? need === "open") {
      return html`${banner}<pet-guide
          .connection=${companion.connection}
          .words=${words}
          .providers=${companion.providers.value}
          .suggested=${server?.guide ?? "ollama"}
          .heading=${server && need !== "none" ? words.state[server.state] : ""}
          ?choosing=${server?.state === "model-selection"}
          @close=${() => (this.guideWish = false)}
        ></pet-guide>`;
    }
    if (need === "none" || !server) return banner;
    return html`<div class="folded">
      <p>${words.state[server.state]}</p>
      <button data-testid="guide-open" @click=${() => (this.guideWish = true)}>${words.guide.title}</button>
    </div>`;
  }

  readonly #escape = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
    this.companion?.stop();
  };
}
