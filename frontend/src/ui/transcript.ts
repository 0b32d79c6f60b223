import { LitElement, css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { guard } from "lit/directives/guard.js";
import { repeat } from "lit/directives/repeat.js";

import type { Chat, Entry, Line, Message, Words } from "../chat/model.js";
import type { Catalogue } from "../i18n/index.js";
import { activityStyle } from "./activity-style.js";
import "./activity.js";
import { bubble } from "./bubble.js";
import "./draft.js";
import "./message.js";
import { proseStyle } from "./prose-style.js";
import { shared } from "./shared.js";

/** So near to the end counts as being there, pixels. */
const NEAR_PX = 48;

/**
 * The chat. It follows what comes in for a reader who is at the bottom, and offers a way there otherwise.
 * Fires `send-again` with `{key, text}`.
 */
@customElement("pet-transcript")
export class PetTranscript extends LitElement {
  static override styles = [
    shared,
    bubble,
    activityStyle,
    proseStyle,
    css`
      :host {
        position: relative;
        display: flex;
        min-height: 0;
      }

      .scroll {
        flex: 1;
        min-width: 0;
        overflow: hidden auto;
        overscroll-behavior: contain;
        scrollbar-width: thin;
        scrollbar-color: var(--line) transparent;
      }

      .scroll:focus-visible {
        outline-offset: -2px;
      }

      .content {
        display: flex;
        flex-direction: column;
        justify-content: flex-end;
        min-height: 100%;
        max-width: var(--column);
        margin: 0 auto;
        padding: var(--space-5) var(--gutter) var(--space-4);
      }

      .entries {
        display: flex;
        flex-direction: column;
        gap: var(--space-3);
        list-style: none;
      }

      .empty {
        max-width: 24rem;
        margin: auto;
        color: var(--ink-soft);
        text-align: center;
        text-wrap: balance;
      }

      .line {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-1) var(--space-3);
        padding: var(--space-2) var(--space-4);
        border-inline-start: 3px solid var(--line);
        color: var(--ink-soft);
        font-size: var(--text-s);
        overflow-wrap: anywhere;
      }

      .line p {
        flex: 1 1 14rem;
      }

      .line.error {
        border-color: var(--bad);
      }

      .line.error .what {
        color: var(--bad);
        font-weight: 600;
      }

      .line.warning {
        border-color: var(--accent);
      }

      .words {
        max-width: 42rem;
        padding: var(--space-2) var(--space-4);
        border: 1px dashed var(--line);
        border-radius: var(--radius);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }

      .words small {
        display: block;
        color: var(--ink-soft);
        font-size: var(--text-s);
      }

      .new {
        position: absolute;
        inset-block-end: var(--space-3);
        inset-inline: 0;
        width: fit-content;
        margin-inline: auto;
        border-color: var(--accent-line);
        color: var(--accent);
        box-shadow: var(--shadow);
      }
    `,
  ];

  @property({ attribute: false }) chat!: Chat;
  @property({ attribute: false }) words!: Catalogue;
  @state() private unseen = false;
  @query(".scroll") private scroller!: HTMLElement;
  @query(".content") private content!: HTMLElement;

  #following = true;
  #lastTop = 0;
  readonly #growth = new ResizeObserver(() => this.#follow());

  /** Goes to the newest message and stays there. */
  toEnd(): void {
    this.#following = true;
    this.unseen = false;
    this.#follow();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#growth.disconnect();
  }

  protected override firstUpdated(): void {
    this.#growth.observe(this.content);
    this.#growth.observe(this.scroller);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get("chat");
    if (before && !this.#following && (this.chat.draft || before.entries !== this.chat.entries)) this.unseen = true;
  }

  protected override render(): TemplateResult {
    const { entries, draft } = this.chat;
    const { chat } = this.words;
    return html`
      <div class="scroll" tabindex="0" role="region" aria-label=${chat.label} @scroll=${this.#scrolled}
        @click=${this.#clicked}>
        <div class="content">
          ${entries.length === 0 && !draft ? html`<p class="empty">${chat.empty}</p>` : nothing}
          <ol class="entries">
            ${guard([entries, this.words], () =>
              repeat(
                entries,
                (entry) => entry.key,
                (entry) => html`<li>${this.#entry(entry)}</li>`,
              ),
            )}
            ${draft
              ? html`<li><pet-draft data-testid="draft" .draft=${draft} .words=${this.words}></pet-draft></li>`
              : nothing}
          </ol>
        </div>
      </div>
      ${this.unseen
        ? html`<button class="new" data-testid="new" aria-label=${chat.newBelowLabel} @click=${this.toEnd}>
            ↓ ${chat.newBelow}
          </button>`
        : nothing}
    `;
  }

  #entry(entry: Entry): TemplateResult {
    switch (entry.kind) {
      case "message":
        return this.#message(entry);
      case "line":
        return this.#line(entry);
      case "words":
        return this.#saidForOther(entry);
      case "deeds":
        return html`<pet-activity .activity=${entry.activity} .words=${this.words}></pet-activity>`;
    }
  }

  #message(message: Message): TemplateResult {
    return html`<pet-message
      data-testid="message"
      data-role=${message.role}
      data-state=${message.state}
      .message=${message}
      .words=${this.words}
      @send-again=${(event: Event) => this.#sendAgain(event, message.key, message.text)}
    ></pet-message>`;
  }

  #line(line: Line): TemplateResult {
    const { retry } = line;
    return html`<div class="line ${line.level}" data-testid="line" role=${line.level === "error" ? "alert" : "status"}>
      <p><span class="what">${line.text}</span> ${line.hint ?? nothing}</p>
      ${retry === null
        ? nothing
        : html`<button data-testid="retry" @click=${(event: Event) => this.#sendAgain(event, line.key, retry)}>
            ${this.words.chat.again}
          </button>`}
    </div>`;
  }

  #saidForOther(words: Words): TemplateResult {
    return html`<div class="words" data-testid="say">
      <small>${this.words.chat.saidBy(words.source)}</small>${words.text}
    </div>`;
  }

  #sendAgain(event: Event, key: string, text: string): void {
    event.stopPropagation();
    this.dispatchEvent(new CustomEvent("send-again", { detail: { key, text } }));
  }

  /** Only the person scrolls up; further from the end it may also be because something came in below. */
  #scrolled(): void {
    const { scrollTop } = this.scroller;
    if (this.#nearEnd()) {
      this.#following = true;
      this.unseen = false;
    } else if (scrollTop < this.#lastTop) {
      this.#following = false;
    }
    this.#lastTop = scrollTop;
  }

  /** What somebody unfolds stays where they look, and comes into view as far as needed. */
  #clicked(event: Event): void {
    const unfolding = event.target instanceof Element ? event.target.closest("summary")?.parentElement : null;
    if (!unfolding) return;
    this.#following = false;
    requestAnimationFrame(() => {
      unfolding.scrollIntoView({ block: "nearest" });
      this.#following = this.#nearEnd();
    });
  }

  #nearEnd(): boolean {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    return scrollHeight - scrollTop - clientHeight < NEAR_PX;
  }

  #follow(): void {
    if (this.#following) this.scroller.scrollTop = this.scroller.scrollHeight;
  }
}
