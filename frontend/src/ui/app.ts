import { LitElement, html } from "lit";
import { customElement, property } from "lit/decorators.js";

@customElement("pet-app")
export class PetApp extends LitElement {
  @property() name = "Tama";
  override render() {
    return html`<h1 @click=${() => (this.name += "!")}>${this.name}</h1>`;
  }
}
