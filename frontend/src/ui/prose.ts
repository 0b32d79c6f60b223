import { ReactiveElement, type PropertyValues } from "lit";
import { customElement, property } from "lit/decorators.js";

import { markdownNodes } from "../chat/markdown.js";

/** A reply's Markdown. Stands in its parent's root, so that text can be selected across messages. */
@customElement("pet-prose")
export class PetProse extends ReactiveElement {
  @property() text = "";

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has("text")) this.replaceChildren(markdownNodes(this.text));
  }
}
