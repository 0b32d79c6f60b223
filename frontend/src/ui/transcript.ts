import { LitElement, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { guard } from "lit/directives/guard.js";
import { repeat } from "lit/directives/repeat.js";

import { askedLast, lastOwn } from "../chat/anew.js";
import type { Chat, Entry, Line, Message, Words } from "../chat/model.js";
import { carried, earlier, later, newest, type Span } from "../chat/window.js";
import type { Catalogue } from "../i18n/index.js";
import { activityStyle } from "./activity-style.js";
import "./activity.js";
import { bubble } from "./bubble.js";
import "./draft.js";
import "./message.js";
import { proseStyle } from "./prose-style.js";
import { shared } from "./shared.js";
import { transcriptStyle } from "./transcript-style.js";

/** So near to the end counts as being there, pixels. */
const NEAR_PX = 48;
/** So near to an end of what is in the document, more comes in, pixels. */
const EDGE_PX = 800;

/** What stands where while entries come in and go above it. */
interface Anchor {
  readonly key: string;
  /** Below the upper edge, pixels. */
  readonly top: number;
}

/**
 * The chat, of which only the part around what is seen is in the document. It follows what comes in for a reader who is at the bottom, and offers a way there otherwise.
 * Fires `send-again` with `{key, text}`; `edit` and `regenerate` of its messages pass
 * through; `older` when somebody comes near the beginning of a chat that has more.
 */
@customElement("pet-transcript")
export class PetTranscript extends LitElement {
  static override styles = [shared, bubble, activityStyle, proseStyle, transcriptStyle];

  @property({ attribute: false }) chat!: Chat;
  @property({ attribute: false }) words!: Catalogue;
  @state() private unseen = false;
  @query(".scroll") private scroller!: HTMLElement;
  @query(".content") private content!: HTMLElement;
  @query(".entries") private list!: HTMLElement;

  #span: Span = { from: 0, to: 0 };
  #keys: readonly string[] = [];
  #anchor: Anchor | null = null;
  #moved = false;
  #focused: Element | null = null;
  #following = true;
  #lastTop = 0;
  readonly #growth = new ResizeObserver(() => this.#follow());

  /** Goes to the newest message and stays there. */
  toEnd(): void {
    this.#following = true;
    this.unseen = false;
    this.#show(newest(this.#keys.length));
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
    if (!before || before.entries === this.chat.entries) {
      if (before && !this.#following && this.chat.draft) this.unseen = true;
      if (this.hasUpdated) return;
    }
    const keys = this.chat.entries.map(({ key }) => key);
    // Older ones above are nothing new.
    if (this.hasUpdated && !this.#following && keys.at(-1) !== this.#keys.at(-1)) this.unseen = true;
    this.#show(this.#following ? newest(keys.length) : carried(this.#span, this.#keys, keys), keys);
  }

  protected override updated(): void {
    if (this.#moved) void this.#settle(this.#anchor);
    this.#anchor = null;
    this.#moved = false;
    // Whoever was at something that has left the document goes on from the chat itself.
    if (this.#focused?.isConnected === false) this.scroller.focus({ preventScroll: true });
    this.#focused = null;
  }

  protected override render(): TemplateResult {
    const { entries, draft } = this.chat;
    const { chat } = this.words;
    const own = lastOwn(entries)?.key;
    const repeatable = askedLast(this.chat) !== null;
    const { from, to } = this.#span;
    const atEnd = to === entries.length;
    const reply = entries.findLast((entry) => entry.kind === "message")?.key;
    return html`
      <div class="scroll" tabindex="0" role="region" aria-label=${chat.label} @scroll=${this.#scrolled}
        @click=${this.#clicked}>
        <div class="content">
          ${entries.length === 0 && !draft ? html`<p class="empty">${chat.empty}</p>` : nothing}
          <ol class="entries">
            ${guard([entries, from, to, this.words, repeatable], () =>
              repeat(
                entries.slice(from, to),
                (entry) => entry.key,
                (entry) => html`<li>${this.#entry(entry, entry.key === own, repeatable && entry.key === reply)}</li>`,
              ),
            )}
            ${draft && atEnd
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

  #entry(entry: Entry, editable: boolean, repeatable: boolean): TemplateResult {
    switch (entry.kind) {
      case "message":
        return this.#message(entry, editable, repeatable);
      case "line":
        return this.#line(entry);
      case "words":
        return this.#saidForOther(entry);
      case "deeds":
        return html`<pet-activity .activity=${entry.activity} .words=${this.words}></pet-activity>`;
    }
  }

  #message(message: Message, editable: boolean, repeatable: boolean): TemplateResult {
    return html`<pet-message
      data-testid="message"
      data-role=${message.role}
      data-state=${message.state}
      .message=${message}
      .words=${this.words}
      ?editable=${editable}
      ?repeatable=${repeatable}
      @send-again=${(event: Event) => this.#sendAgain(event, message.key, message.text)}
    ></pet-message>`;
  }

  #line(line: Line): TemplateResult {
    const { retry } = line;
    return html`<div class="line ${line.level}" data-testid="line" role=${this.#spoken(line)}>
      <p><span class="what">${line.text}</span> ${line.hint ?? nothing}</p>
      ${retry === null
        ? nothing
        : html`<button data-testid="retry" @click=${(event: Event) => this.#sendAgain(event, line.key, retry)}>
            ${this.words.chat.again}
          </button>`}
    </div>`;
  }

  /** Only what is new is read out, not what is scrolled to. */
  #spoken({ key, level }: Line): "alert" | "status" | typeof nothing {
    if (key !== this.#keys.at(-1)) return nothing;
    return level === "error" ? "alert" : "status";
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
    this.#reachOut();
  }

  /** Lets more in at the end that somebody comes near to. */
  #reachOut(): void {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    if (this.#following) return;
    if (scrollTop < EDGE_PX) {
      if (this.#span.from > 0) this.#show(earlier(this.#span));
      else if (this.chat.more) this.dispatchEvent(new CustomEvent("older"));
    } else if (scrollHeight - scrollTop - clientHeight < EDGE_PX) {
      this.#show(later(this.#span, this.#keys.length));
    }
  }

  /** Changes what is in the document; what is seen stays where it is. */
  #show(span: Span, keys = this.#keys): void {
    if (span.from === this.#span.from && span.to === this.#span.to && keys === this.#keys) return;
    if (this.hasUpdated) {
      this.#anchor ??= this.#following ? null : this.#firstSeen();
      const focused = this.shadowRoot?.activeElement ?? null;
      this.#focused = this.list.contains(focused) ? focused : null;
    }
    this.#span = span;
    this.#keys = keys;
    this.#moved = true;
    this.requestUpdate();
  }

  /** Once what came in has its height; all of it happens before the next paint. */
  async #settle(anchor: Anchor | null): Promise<void> {
    for (const inside of ["pet-message, pet-activity", "pet-message pet-activity, pet-prose", "pet-code"]) {
      await Promise.all([...this.list.querySelectorAll<LitElement>(inside)].map((element) => element.updateComplete));
    }
    if (!anchor) return this.#follow();
    const item = this.list.children[this.#keys.indexOf(anchor.key) - this.#span.from];
    if (item) this.scroller.scrollTop += this.#topOf(item) - anchor.top;
    this.#lastTop = this.scroller.scrollTop;
  }

  #firstSeen(): Anchor | null {
    const { from, to } = this.#span;
    for (let index = from; index < to; index++) {
      const item = this.list.children[index - from];
      const key = this.#keys[index];
      if (item && key !== undefined && this.#topOf(item) + item.clientHeight > 0) return { key, top: this.#topOf(item) };
    }
    return null;
  }

  #topOf(item: Element): number {
    return item.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top;
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
    return this.#span.to === this.#keys.length && scrollHeight - scrollTop - clientHeight < NEAR_PX;
  }

  #follow(): void {
    if (!this.#following) return;
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#lastTop = this.scroller.scrollTop;
  }
}
