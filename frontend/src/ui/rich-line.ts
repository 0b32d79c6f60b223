import { html, type TemplateResult } from "lit";

/** A sentence of the catalogue in which `backticks` mark what is typed or read literally. */
export function richLine(text: string): TemplateResult[] {
  return text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}
