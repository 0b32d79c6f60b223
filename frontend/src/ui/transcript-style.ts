import { css } from "lit";

/** Where the messages stand, and what stands there that is no message. */
export const transcriptStyle = css`
  :host {
    position: relative;
    display: flex;
    min-height: 0;
  }

  .scroll {
    flex: 1;
    min-width: 0;
    overflow: hidden auto;
    overscroll-behavior: contain;
    /* Entries come and go above by our own measure. */
    overflow-anchor: none;
    scrollbar-width: thin;
    scrollbar-color: var(--line) transparent;
  }

  .scroll:focus-visible {
    outline-offset: -2px;
  }

  .content {
    display: flex;
    flex-direction: column;
    justify-content: flex-end;
    min-height: 100%;
    max-width: var(--column);
    margin: 0 auto;
    padding: var(--space-5) var(--gutter) var(--space-4);
  }

  .entries {
    display: flex;
    flex-direction: column;
    gap: var(--space-3);
    list-style: none;
  }

  .empty {
    max-width: 24rem;
    margin: auto;
    color: var(--ink-soft);
    text-align: center;
    text-wrap: balance;
  }

  .line {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-1) var(--space-3);
    padding: var(--space-2) var(--space-4);
    border-inline-start: 3px solid var(--line);
    color: var(--ink-soft);
    font-size: var(--text-s);
    overflow-wrap: anywhere;
  }

  .line p {
    flex: 1 1 14rem;
  }

  .line.error {
    border-color: var(--bad);
  }

  .line.error .what {
    color: var(--bad);
    font-weight: 600;
  }

  .line.warning {
    border-color: var(--accent);
  }

  .words {
    max-width: 42rem;
    padding: var(--space-2) var(--space-4);
    border: 1px dashed var(--line);
    border-radius: var(--radius);
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }

  .words small {
    display: block;
    color: var(--ink-soft);
    font-size: var(--text-s);
  }

  .new {
    position: absolute;
    inset-block-end: var(--space-3);
    inset-inline: 0;
    width: fit-content;
    margin-inline: auto;
    border-color: var(--accent-line);
    color: var(--accent);
    box-shadow: var(--shadow);
  }
`;
