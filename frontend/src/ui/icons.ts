import { svg, html } from "lit";

const icon = (paths: ReturnType<typeof svg>) =>
  html`<svg viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor" stroke-width="2"
    stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths}</svg>`;

export const sendIcon = icon(svg`<path d="M10 16V4M5 9l5-5 5 5" />`);
export const stopIcon = icon(svg`<rect x="6" y="6" width="8" height="8" rx="1.500" fill="currentColor" />`);
