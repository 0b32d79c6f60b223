import { ReactiveElement, type PropertyValues } from "lit";
import { customElement, property } from "lit/decorators.js";

import { BlockReader } from "../chat/blocks.js";
import { blockElement } from "../chat/markdown.js";
import { patch } from "../chat/patch.js";
import type { Catalogue } from "../i18n/index.js";
import { PetCode } from "./code.js";

/** A reply's Markdown. Stands in its parent's root, so that text can be selected across messages. */
@customElement("pet-prose")
export class PetProse extends ReactiveElement {
  @property() text = "";
  @property({ attribute: false }) words!: Catalogue;
  /** More will come. */
  @property({ type: Boolean }) live = false;

  readonly #reader = new BlockReader();
  #shown: readonly string[] = [];

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has("text") || changed.has("live")) this.#show(this.#reader.read(this.text, this.live));
    if (changed.has("words")) for (const code of this.querySelectorAll<PetCode>("pet-code")) code.words = this.words;
  }

  #show(blocks: readonly string[]): void {
    blocks.forEach((block, index) => {
      if (block === this.#shown[index]) return;
      const fresh = blockElement(block, (code, language) => this.#code(code, language));
      const here = this.children[index];
      if (!here) this.append(fresh);
      else if (here.localName === fresh.localName) patch(here, fresh, takeOverCode);
      else here.replaceWith(fresh);
    });
    while (this.children.length > blocks.length) this.lastElementChild?.remove();
    this.#shown = blocks;
  }

  #code(code: string, language: string): PetCode {
    const element = new PetCode();
    Object.assign(element, { code, language, words: this.words });
    return element;
  }
}

function takeOverCode(old: Element, fresh: Element): boolean {
  if (!(old instanceof PetCode) || !(fresh instanceof PetCode)) return false;
  old.code = fresh.code;
  old.language = fresh.language;
  return true;
}
