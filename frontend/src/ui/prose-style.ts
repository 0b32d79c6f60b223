import { css } from "lit";

/** How the Markdown of a reply looks; for the root that <pet-prose> stands in. */
export const proseStyle = css`
  pet-prose {
    display: block;
    overflow-wrap: anywhere;
  }

  pet-prose :is(p, ul, ol, pet-code, blockquote, .wide, h1, h2, h3, h4, h5, h6) {
    margin: 0 0 0.6em;
  }

  /* Each paragraph runs as its own letters do. */
  pet-prose :is(p, li, h1, h2, h3, h4, h5, h6, td, th) {
    unicode-bidi: plaintext;
  }

  pet-prose > :last-child,
  pet-prose li > :last-child,
  pet-prose blockquote > :last-child {
    margin-bottom: 0;
  }

  pet-prose :is(h1, h2, h3, h4, h5, h6) {
    font-size: var(--text-m);
    font-weight: 700;
  }

  pet-prose ul,
  pet-prose ol {
    padding-inline-start: 1.4em;
  }

  pet-prose a {
    color: var(--accent);
    text-underline-offset: 0.15em;
  }

  pet-code {
    display: block;
    max-width: 100%;
    border: 1px solid var(--line);
    border-radius: var(--radius-s);
    background: var(--sunken);
    overflow: hidden;
  }

  pet-code .code-head {
    display: flex;
    align-items: center;
    justify-content: space-between;
    min-height: 2rem;
    padding-inline-start: var(--space-3);
    color: var(--ink-soft);
    font-size: 0.75rem;
  }

  pet-code .code-head button {
    width: 2rem;
    min-height: 2rem;
    padding: 0;
    border-radius: var(--radius-s);
  }

  pet-code svg {
    width: 1rem;
    height: 1rem;
  }

  pet-code pre {
    margin: 0;
    padding: 0 var(--space-3) var(--space-3);
    overflow-x: auto;
    line-height: 1.5;
    scrollbar-width: thin;
    tab-size: 4;
  }

  pet-code pre:focus-visible,
  pet-prose .wide:focus-visible {
    outline-offset: -2px;
  }

  pet-code pre code {
    padding: 0;
    background: none;
    overflow-wrap: normal;
    white-space: pre;
  }

  :is(.hljs-keyword, .hljs-selector-tag, .hljs-literal, .hljs-meta .hljs-keyword, .hljs-section, .hljs-name) {
    color: var(--code-key);
  }

  :is(.hljs-string, .hljs-regexp, .hljs-addition, .hljs-char) {
    color: var(--code-string);
  }

  :is(.hljs-number, .hljs-symbol, .hljs-attr, .hljs-attribute, .hljs-variable, .hljs-template-variable, .hljs-selector-class) {
    color: var(--code-value);
  }

  :is(.hljs-title, .hljs-built_in, .hljs-type, .hljs-selector-id) {
    color: var(--code-name);
  }

  :is(.hljs-comment, .hljs-quote, .hljs-meta) {
    color: var(--ink-soft);
  }

  .hljs-deletion {
    color: var(--bad);
  }

  .hljs-emphasis {
    font-style: italic;
  }

  .hljs-strong {
    font-weight: 700;
  }

  pet-prose .wide {
    max-width: 100%;
    overflow-x: auto;
    scrollbar-width: thin;
  }

  pet-prose table {
    border-collapse: collapse;
  }

  pet-prose th,
  pet-prose td {
    padding: var(--space-1) var(--space-3);
    border: 1px solid var(--line);
    text-align: start;
    overflow-wrap: normal;
  }

  pet-prose blockquote {
    padding-inline-start: var(--space-3);
    border-inline-start: 3px solid var(--line);
    color: var(--ink-soft);
  }

  pet-prose hr {
    border: 0;
    border-top: 1px solid var(--line);
  }
`;
