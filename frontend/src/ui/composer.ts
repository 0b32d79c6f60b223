import { LitElement, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";

import { typed, type Command, type Typed } from "../commands/commands.js";
import { moved, offered, type Palette } from "../commands/palette.js";
import type { Catalogue } from "../i18n/index.js";
import type { TextStorage } from "../lib/storage.js";
import { meansText } from "../pictures/paste.js";
import type { Tray } from "../pictures/tray.js";
import { isComposing, sends } from "./composer-keys.js";
import { composerStyle } from "./composer-style.js";
import { pictureIcon, sendIcon, stopIcon } from "./icons.js";
import { PALETTE_ID, optionId, paletteStyle, paletteView } from "./palette.js";
import "./picture-tray.js";
import { shared } from "./shared.js";

const DRAFT_KEY = "pet.draft";
/** Of the window's height, at most. */
const TALLEST_SHARE = 0.4;

/**
 * The box to write in. Fires `send` with the text as its cancelable detail, `command` with a command's name,
 * `stop`, `edit` when the last message is wanted here again, `add` with files for the tray, and `remove` with a picture of it.
 */
@customElement("pet-composer")
export class PetComposer extends LitElement {
  static override styles = [shared, composerStyle, paletteStyle];

  @property({ attribute: false }) words!: Catalogue;
  @property({ attribute: false }) kept!: TextStorage;
  @property({ type: Boolean }) writing = false;
  @property({ type: Number }) maxChars = Number.POSITIVE_INFINITY;
  @property({ attribute: false }) tray!: Tray;
  /** The server takes pictures. */
  @property({ type: Boolean }) takesPictures = false;
  @state() private text = "";
  /** What looked like a command and is none. */
  @state() private unknown: Extract<Typed, { kind: "unknown" }> | null = null;
  /** The commands that are offered while one is typed. */
  @state() private palette: Palette | null = null;
  @state() private full = false;
  @query("textarea") private box!: HTMLTextAreaElement;
  @query("input[type=file]") private files!: HTMLInputElement;

  #compositionEndedAt = Number.NEGATIVE_INFINITY;

  override focus(): void {
    this.box.focus();
  }

  /** Puts a text here to be edited, before what may already stand here. */
  write(text: string): void {
    this.unknown = null;
    this.#keep(this.text.trim() === "" ? text : `${text}\n${this.text}`);
    void this.updateComplete.then(() => {
      this.focus();
      this.box.setSelectionRange(text.length, text.length);
    });
  }

  protected override willUpdate(): void {
    if (!this.hasUpdated) this.text = this.kept.get(DRAFT_KEY) ?? "";
  }

  protected override updated(changed: PropertyValues): void {
    if (changed.has("text")) this.#fit();
  }

  protected override render(): TemplateResult {
    const { composer } = this.words;
    const over = this.#over();
    const complaint = over > 0 ? composer.tooLong(over) : this.full ? composer.full : null;
    return html`
      <form @submit=${this.#submit}>
        ${this.palette ? paletteView(this.palette, this.words, (command) => this.#run(command)) : nothing}
        <pet-picture-tray
          .tray=${this.tray}
          .words=${this.words}
          @remove=${this.#removed}
        ></pet-picture-tray>
        <div class="row">
          ${this.takesPictures ? this.#adding() : nothing}
          <textarea
            data-testid="composer"
            rows="1"
            aria-label=${composer.label}
            aria-describedby="below"
            role=${this.palette ? "combobox" : nothing}
            aria-expanded=${this.palette ? "true" : nothing}
            aria-autocomplete=${this.palette ? "list" : nothing}
            aria-controls=${this.palette ? PALETTE_ID : nothing}
            aria-activedescendant=${this.palette?.active ? optionId(this.palette.active) : nothing}
            placeholder=${composer.placeholder}
            .value=${this.text}
            @input=${this.#typed}
            @keydown=${this.#pressed}
            @blur=${() => (this.palette = null)}
            @paste=${this.#pasted}
            @compositionend=${(event: CompositionEvent) => (this.#compositionEndedAt = event.timeStamp)}
          ></textarea>
          ${this.writing
            ? html`<button type="button" class="stop" data-testid="stop" title="${composer.stop} (Esc)"
                aria-label=${composer.stop} @click=${this.#stop}>${stopIcon}</button>`
            : nothing}
          <button class="primary" data-testid="send" title=${composer.send} aria-label=${composer.send}
            ?disabled=${!this.#sendable()}>${sendIcon}</button>
        </div>
      </form>
      ${this.unknown === null ? this.#below(complaint) : this.#noCommand(this.unknown)}
    `;
  }

  #adding(): TemplateResult {
    const { add } = this.words.pictures;
    return html`<button type="button" class="quiet add" data-testid="picture-add" title=${add} aria-label=${add}
        @click=${() => this.files.click()}>${pictureIcon}</button>
      <input type="file" accept="image/*" multiple hidden data-testid="picture-file" aria-label=${add}
        @change=${this.#chosen} />`;
  }

  #below(complaint: string | null): TemplateResult {
    return html`<p id="below" class="below ${complaint ? "bad" : ""}" role=${complaint ? "alert" : nothing}>
      ${complaint ?? this.words.composer.hint}
    </p>`;
  }

  #noCommand({ name, nearest }: Extract<Typed, { kind: "unknown" }>): TemplateResult {
    const { commands } = this.words;
    return html`<p id="below" class="below bad" role="alert" data-testid="unknown-command">
      ${commands.unknown(name)}
      ${nearest === null
        ? nothing
        : html`<button type="button" class="quiet" data-testid="nearest" @click=${() => this.#run(nearest)}>
            ${commands.meant(nearest)}
          </button>`}
      <button type="button" class="quiet" data-testid="send-anyway" @click=${this.#sendAnyway}>${commands.sendAnyway}</button>
    </p>`;
  }

  #typed(): void {
    this.full = false;
    this.unknown = null;
    this.#keep(this.box.value);
    this.palette = offered(this.box.value, this.words.help.commands);
  }

  #pasted(event: ClipboardEvent): void {
    const { clipboardData } = event;
    if (!clipboardData || clipboardData.files.length === 0 || meansText(clipboardData.types)) return;
    event.preventDefault();
    if (this.takesPictures) this.#add(clipboardData.files);
  }

  #chosen(): void {
    this.#add(this.files.files ?? []);
    this.files.value = "";
    this.focus();
  }

  #add(files: ArrayLike<File>): void {
    this.dispatchEvent(new CustomEvent("add", { detail: Array.from(files) }));
  }

  #removed(event: CustomEvent): void {
    this.dispatchEvent(new CustomEvent("remove", { detail: event.detail }));
    this.focus();
  }

  #keep(text: string): void {
    this.text = text;
    this.kept.set(DRAFT_KEY, text === "" ? null : text);
  }

  #pressed(event: KeyboardEvent): void {
    if (this.palette && !isComposing(event, this.#compositionEndedAt) && this.#chose(event, this.palette)) {
      event.preventDefault();
      return;
    }
    if (event.key === "ArrowUp" && this.box.value === "" && !isComposing(event, this.#compositionEndedAt)) {
      event.preventDefault();
      this.dispatchEvent(new CustomEvent("edit"));
    }
    if (!sends(event, this.#compositionEndedAt)) return;
    event.preventDefault();
    this.#send();
  }

  /** A key that is for the palette. */
  #chose({ key, shiftKey }: KeyboardEvent, palette: Palette): boolean {
    switch (key) {
      case "ArrowDown":
      case "ArrowUp":
        this.palette = moved(palette, key === "ArrowDown" ? 1 : -1);
        void this.updateComplete.then(() => this.renderRoot.querySelector(".option.active")?.scrollIntoView({ block: "nearest" }));
        return true;
      case "Tab":
        if (shiftKey || palette.active === null) return false;
        this.#keep(`/${palette.active}`);
        this.palette = { commands: [palette.active], active: palette.active };
        return true;
      case "Escape":
        this.palette = null;
        return true;
      case "Enter":
        if (shiftKey || palette.active === null) return false;
        this.#run(palette.active);
        return true;
      default:
        return false;
    }
  }

  #run(command: Command): void {
    this.#keep("");
    this.unknown = this.palette = null;
    this.focus();
    this.dispatchEvent(new CustomEvent("command", { detail: command }));
  }

  #submit(event: Event): void {
    event.preventDefault();
    this.#send();
    this.focus();
  }

  #send(): void {
    if (!this.#sendable()) return;
    const what = typed(this.text);
    if (what.kind === "unknown") {
      this.unknown = what;
    } else if (what.kind === "command") {
      this.#run(what.command);
    } else {
      this.#sendMessage();
    }
  }

  #sendMessage(): void {
    const taken = this.dispatchEvent(new CustomEvent("send", { detail: this.text, cancelable: true }));
    this.unknown = null;
    if (taken) this.#keep("");
    else this.full = true;
  }

  #sendAnyway(): void {
    if (this.#sendable()) this.#sendMessage();
    this.focus();
  }

  #stop(): void {
    this.dispatchEvent(new CustomEvent("stop"));
    this.focus();
  }

  #sendable(): boolean {
    const { pictures, reading } = this.tray;
    return (this.text.trim() !== "" || pictures.length > 0) && reading === 0 && this.#over() === 0;
  }

  /** Characters (not UTF-16 units) beyond the server's limit. */
  #over(): number {
    if (this.text.length <= this.maxChars) return 0;
    return Math.max(0, [...this.text].length - this.maxChars);
  }

  /** As tall as its text, up to a share of the window. */
  #fit(): void {
    this.box.style.height = "";
    const wanted = Math.min(this.box.scrollHeight, window.innerHeight * TALLEST_SHARE);
    this.box.style.height = `${wanted}px`;
  }
}
