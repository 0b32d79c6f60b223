import { css } from "lit";

export const composerStyle = css`
  :host {
    display: block;
    max-width: var(--column);
    width: 100%;
    margin: 0 auto;
    padding: 0 var(--gutter) max(var(--space-3), env(safe-area-inset-bottom));
  }

  form {
    position: relative;
    padding: var(--space-2);
    border: 1px solid var(--line);
    border-radius: calc(var(--radius) + var(--space-2));
    background: var(--surface);
    box-shadow: var(--shadow);
    transition: border-color 0.15s;
  }

  form:has(textarea:focus-visible) {
    border-color: var(--accent);
    box-shadow: 0 0 0 1px var(--accent), var(--shadow);
  }

  .row {
    display: flex;
    align-items: flex-end;
    gap: var(--space-2);
  }

  textarea:focus-visible {
    outline: 0;
  }

  textarea {
    flex: 1;
    min-width: 0;
    height: 2.5rem;
    max-height: 40vh;
    padding: 0.45rem var(--space-2);
    border: 0;
    background: none;
    line-height: 1.6;
    resize: none;
    overflow-y: auto;
    scrollbar-width: thin;
  }

  textarea::placeholder {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    color: var(--ink-soft);
    opacity: 1;
  }

  .row button {
    flex: none;
    width: 2.5rem;
    height: 2.5rem;
    padding: 0;
    border-radius: 50%;
  }

  .stop {
    border-color: var(--accent);
    color: var(--accent);
  }

  .add {
    color: var(--ink-soft);
  }

  .below {
    min-height: 1.5em;
    padding: var(--space-1) var(--space-4) 0;
    color: var(--ink-soft);
    font-size: 0.75rem;
  }

  .below button {
    min-height: 1.75rem;
    margin-inline-start: var(--space-2);
    padding-block: 0;
    color: var(--ink);
  }

  .below.bad {
    color: var(--bad);
  }

  @media (max-width: 40rem), (pointer: coarse) {
    .below:not(.bad) {
      display: none;
    }
  }
`;
