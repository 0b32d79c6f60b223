import { svg, html } from "lit";

const icon = (paths: ReturnType<typeof svg>) =>
  html`<svg viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor" stroke-width="2"
    stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths}</svg>`;

export const sendIcon = icon(svg`<path d="M10 16V4M5 9l5-5 5 5" />`);
export const stopIcon = icon(svg`<rect x="6" y="6" width="8" height="8" rx="1.500" fill="currentColor" />`);
export const pictureIcon = icon(
  svg`<rect x="3" y="4" width="14" height="12" rx="2" /><circle cx="7.500" cy="8.500" r="1.200" /><path d="m4 15 4.500-4 3 2.500 2-2L17 15" />`,
);
export const statusIcon = icon(svg`<path d="M3 10h3l2.500-5 3 10 2.500-5h3" />`);
export const closeIcon = icon(svg`<path d="M5 5l10 10M15 5 5 15" />`);

export const copyIcon = icon(svg`<rect x="7" y="7" width="10" height="10" rx="2" /><path d="M13 4.500V5a2 2 0 0 0-2-2H5a2 2 0 0 0-2 2v6a2 2 0 0 0 2 2h-.500" />`);
export const copiedIcon = icon(svg`<path d="m4 10.500 4 4 8-9" />`);
export const againIcon = icon(svg`<path d="M16 10a6 6 0 1 1-2-4.500L16 7M16 3v4h-4" />`);
export const editIcon = icon(svg`<path d="m12 5 3 3L7 16H4v-3z" />`);

const THEMES = {
  system: icon(svg`<circle cx="10" cy="10" r="6.500" /><path d="M10 3.500v13a6.500 6.500 0 0 0 0-13z" fill="currentColor" />`),
  light: icon(svg`<circle cx="10" cy="10" r="3.500" /><path d="M10 2v1.500M10 16.500V18M2 10h1.500M16.500 10H18M4.300 4.300l1.100 1.100M14.600 14.600l1.100 1.100M15.700 4.300l-1.100 1.100M5.400 14.600l-1.100 1.100" />`),
  dark: icon(svg`<path d="M16.500 12A7 7 0 0 1 8 3.500a7 7 0 1 0 8.500 8.500z" />`),
};

/** Which colours were chosen. */
export const themeIcon = (theme: keyof typeof THEMES) => THEMES[theme];

const mark = (paths: ReturnType<typeof svg>) =>
  html`<svg class="outcome" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="2"
    stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths}</svg>`;

const failed = mark(svg`<path d="M4 4l8 8M12 4l-8 8" />`);
const skipped = mark(svg`<path d="M4 8h8" />`);
const OUTCOMES = {
  running: mark(svg`<path d="M8 2a6 6 0 1 1-6 6" />`),
  ok: mark(svg`<path d="m3 8.500 3.500 3.500L13 4.500" />`),
  error: failed,
  timeout: failed,
  deferred: skipped,
  denied: skipped,
  cancelled: skipped,
};

/** How a call stands; words beside it say the same. */
export const outcomeIcon = (outcome: keyof typeof OUTCOMES) => OUTCOMES[outcome];
