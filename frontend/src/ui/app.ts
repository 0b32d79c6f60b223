import { LitElement, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";

import type { Call } from "../chat/activity.js";
import type { Draft } from "../chat/model.js";
import type { Command } from "../commands/commands.js";
import type { Companion } from "../companion.js";
import { count } from "../i18n/format.js";
import type { Picture } from "../pictures/picture.js";
import { guideNeed, headline } from "../view.js";
import { appStyle } from "./app-style.js";
import "./composer.js";
import type { PetComposer } from "./composer.js";
import "./connection-bar.js";
import "./consent.js";
import type { Answerer, PetConsent } from "./consent.js";
import "./demo-banner.js";
import "./dialog.js";
import "./door.js";
import { failureText } from "./failure.js";
import { FileDrop } from "./file-drop.js";
import "./guide.js";
import type { PetGuide } from "./guide.js";
import "./help-panel.js";
import "./notify-offer.js";
import { shared } from "./shared.js";
import "./status-panel.js";
import "./stage.js";
import "./transcript.js";
import type { PetTranscript } from "./transcript.js";
import { takesScreenshot } from "./tool-names.js";
import { Watch } from "./watch.js";

/** The page: the character beside (or above) the chat. */
@customElement("pet-app")
export class PetApp extends LitElement {
  static override styles = [shared, appStyle];

  @property({ attribute: false }) companion: Companion | null = null;
  /** The person's own wish; null leaves it to the state whether the guide shows. */
  @state() private guideWish: boolean | null = null;
  /** What the guide is opened for: to connect a provider, or to change the model. */
  @state() private guideFor: "connect" | "model" = "connect";
  @state() private panel: "help" | "status" | null = null;
  @state() private enlarged: { readonly src: string; readonly label: string } | null = null;
  @query("pet-composer") private composer!: PetComposer | null;
  @query("pet-transcript") private transcript!: PetTranscript | null;

  @query("pet-guide") private guide!: PetGuide | null;

  readonly #drop = new FileDrop(this, (files) => this.#addFiles(files));
  #answering = false;
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
      const { chat, server, providers, chatProvider, limits, door } = companion;
      const { performer, connection, language, theme, attention, questions, tray } = companion;
      this.#watch = new Watch(this, () => [
        chat, server, providers, chatProvider, limits, door, performer.pose, connection.status, language.locale, theme.choice,
        attention.unread, attention.offers,
        questions.open, tray.content,
      ]);
    }
    this.#answering = this.#focusInQuestion();
    // A guide that was closed comes back when something else is wrong; one that was opened stays.
    const now = companion?.server.value?.state ?? null;
    if (now !== this.#stateBefore && now !== "streaming") {
      if (now !== "ready" && this.guideWish === false) this.guideWish = null;
      this.#stateBefore = now;
    }
  }

  protected override updated(): void {
    if (!this.companion) return;
    const { language, theme, attention } = this.companion;
    const { dataset } = document.documentElement;
    if (theme.choice.value === "system") delete dataset["theme"];
    else dataset["theme"] = theme.choice.value;
    document.documentElement.lang = language.locale.value;
    const { name, tag } = language.words;
    const unread = attention.unread.value;
    document.title = unread > 0 ? `(${count(unread, tag)}) ${name}` : name;
    // Whoever was at a question that went away goes on where they can write.
    if (this.#answering && !this.#focusInQuestion()) this.composer?.focus();
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
        role="banner"
        .pose=${companion.performer.pose.value}
        .headline=${headline(status, companion.server.value, draft ? draft.text !== "" : null)}
        .words=${words}
        .waiting=${draft?.waiting ?? null}
        @open-status=${() => (this.panel = "status")}
        .theme=${companion.theme.choice.value}
        @change-theme=${() => companion.theme.next()}
        @toggle-language=${() => companion.language.toggle()}
      ></pet-stage>
      <main>
        ${status.phase === "refused" ? this.#door(companion) : this.#chat(companion)}
        ${this.#drop.over ? html`<div class="drop" data-testid="drop">${words.pictures.drop}</div>` : nothing}
      </main>
      ${this.#panel(companion)} ${this.#enlargement(companion)}
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
        @enlarge=${(event: CustomEvent<{ src: string; label: string }>) => (this.enlarged = event.detail)}
        @send-again=${(event: CustomEvent<{ key: string; text: string }>) => {
          companion.sendAgain(event.detail.key, event.detail.text);
          this.transcript?.toEnd();
        }}
        @older=${() => void companion.older()}
        @edit=${this.#edit}
        @regenerate=${() => {
          companion.regenerate();
          this.transcript?.toEnd();
        }}
      ></pet-transcript>
      ${repeat(
        companion.questions.open.value,
        (question) => question.id,
        (question) => html`<pet-consent .question=${question} .words=${words} .answer=${this.#answer}></pet-consent>`,
      )}
      ${companion.attention.offers.value
        ? html`<pet-notify-offer
            .words=${words}
            @answer=${(event: CustomEvent<boolean>) => {
              void companion.attention.answer(event.detail);
              this.composer?.focus();
            }}
          ></pet-notify-offer>`
        : nothing}
      <pet-composer
        .words=${words}
        .tray=${companion.tray.content.value}
        ?takesPictures=${(companion.limits.value?.max_images ?? 0) > 0}
        .kept=${companion.tabOnly}
        .writing=${chat.draft !== null}
        .maxChars=${companion.limits.value?.max_text_chars ?? Number.POSITIVE_INFINITY}
        @send=${(event: CustomEvent<string>) => {
          if (!companion.send(event.detail)) event.preventDefault();
          this.transcript?.toEnd();
        }}
        @command=${(event: CustomEvent<Command>) => this.#run(event.detail)}
        @add=${(event: CustomEvent<File[]>) => this.#addFiles(event.detail)}
        @remove=${(event: CustomEvent<Picture>) => companion.tray.remove(event.detail)}
        @edit=${this.#edit}
        @stop=${() => companion.stop()}
      ></pet-composer>
      <div class="visually-hidden" aria-live="polite" data-testid="spoken">
        ${chat.sentences.map((sentence) => html`<p>${sentence}</p>`)}
      </div>
      <div class="visually-hidden" aria-live="polite">
        ${screenshots(chat.draft).map(() => html`<p>${words.activity.shot}</p>`)}
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
          @connect=${() => this.#openGuide("connect")}
        ></pet-demo-banner>`
      : nothing;
    if (this.guideWish ?? need === "open") {
      return html`${banner}<pet-guide
          .connection=${companion.connection}
          .words=${words}
          .providers=${companion.providers.value}
          .current=${companion.chatProvider.value}
          .suggested=${server?.guide ?? "ollama"}
          .heading=${server && need !== "none" ? words.state[server.state] : ""}
          ?choosing=${server?.state === "model-selection"}
          ?changing=${this.guideFor === "model"}
          @chosen=${this.#chosen}
          @close=${this.#closeGuide}
        ></pet-guide>`;
    }
    if (need === "none" || !server) return banner;
    return html`<div class="folded">
      <p>${words.state[server.state]}</p>
      <button data-testid="guide-open" @click=${() => this.#openGuide("connect")}>${words.guide.title}</button>
    </div>`;
  }

  #panel({ connection, language }: Companion): TemplateResult | typeof nothing {
    const { words } = language;
    if (this.panel === null) return nothing;
    return html`<pet-dialog
      .heading=${words[this.panel].title}
      .closeLabel=${words.panel.close}
      @close=${() => (this.panel = null)}
    >
      ${this.panel === "help"
        ? html`<pet-help-panel .words=${words}></pet-help-panel>`
        : html`<pet-status-panel .connection=${connection} .words=${words}></pet-status-panel>`}
    </pet-dialog>`;
  }

  #enlargement({ language }: Companion): TemplateResult | typeof nothing {
    if (!this.enlarged) return nothing;
    const { src, label } = this.enlarged;
    return html`<pet-dialog
      wide
      .heading=${label}
      .closeLabel=${language.words.panel.close}
      @close=${() => (this.enlarged = null)}
    ><img class="enlarged" data-testid="enlarged" src=${src} alt=${label} /></pet-dialog>`;
  }

  readonly #edit = (): void => {
    const text = this.companion?.takeLast() ?? null;
    if (text !== null) this.composer?.write(text);
  };

  #run(command: Command): void {
    switch (command) {
      case "help":
      case "status":
        this.panel = command;
        break;
      case "theme":
        return this.companion?.theme.next();
      case "language":
        return this.companion?.language.toggle();
      default:
        this.#openGuide(command);
    }
  }

  #openGuide(purpose: "connect" | "model"): void {
    this.guideFor = purpose;
    this.guideWish = true;
    void this.updateComplete.then(() => this.guide?.updateComplete).then(() => this.guide?.focus());
  }

  /** Whoever came to connect a model has one now; whoever changes models may go on with another role. */
  #chosen(): void {
    if (this.guideFor === "connect") this.#closeGuide();
  }

  #closeGuide(): void {
    this.guideWish = false;
    this.guideFor = "connect";
    this.composer?.focus();
  }

  #addFiles(files: readonly File[]): void {
    if (this.companion?.limits.value) void this.companion.tray.add(files);
    this.composer?.focus();
  }

  #focusInQuestion(): boolean {
    return [...this.renderRoot.querySelectorAll<PetConsent>("pet-consent")].some((question) => question.focused);
  }

  readonly #answer: Answerer = async (question, word) => {
    const { companion } = this;
    if (!companion) return null;
    const { words } = companion.language;
    try {
      if (!(await companion.answer(question, word))) companion.tell("consent_over", words.consent.gone);
      return null;
    } catch (error) {
      return failureText(error, words);
    }
  };

  readonly #escape = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
    this.companion?.stop();
  };
}

/** The looks at the screen of this turn: nobody should miss one for not seeing the page. */
function screenshots(draft: Draft | null): readonly Call[] {
  return draft?.activity?.calls.filter(({ name, picture }) => picture !== null && takesScreenshot(name)) ?? [];
}
