import { css } from "lit";

/** How the Markdown of a reply looks; for the root that <pet-prose> stands in. */
export const proseStyle = css`
  pet-prose {
    display: block;
    overflow-wrap: anywhere;
  }

  pet-prose :is(p, ul, ol, pre, blockquote, table, h1, h2, h3, h4, h5, h6) {
    margin: 0 0 0.6em;
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

  pet-prose pre {
    max-width: 100%;
    overflow-x: auto;
    padding: var(--space-3);
    border-radius: var(--radius-s);
    background: var(--sunken);
    line-height: 1.5;
  }

  pet-prose pre code {
    padding: 0;
    background: none;
    overflow-wrap: normal;
  }

  pet-prose table {
    display: block;
    max-width: 100%;
    overflow-x: auto;
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

  pet-prose .plain {
    white-space: pre-wrap;
  }
`;
