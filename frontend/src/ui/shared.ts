import { css } from "lit";

/** What all components look alike in. */
export const shared = css`
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }

  [hidden] {
    display: none !important;
  }

  h1,
  h2,
  p,
  ol,
  ul {
    margin: 0;
    padding: 0;
  }

  button,
  input,
  select,
  textarea {
    font: inherit;
    color: inherit;
  }

  button {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    gap: var(--space-2);
    min-height: 2.25rem;
    padding: var(--space-1) var(--space-4);
    border: 1px solid var(--line);
    border-radius: 999px;
    background: var(--surface);
    font-size: var(--text-s);
    font-weight: 600;
    cursor: pointer;
    transition: border-color 0.15s, background-color 0.15s;
  }

  button:hover:not(:disabled) {
    border-color: var(--ink-soft);
  }

  button.primary {
    border-color: var(--accent);
    background: var(--accent);
    color: var(--accent-ink);
  }

  button.quiet {
    border-color: transparent;
    background: transparent;
    color: var(--ink-soft);
  }

  button.quiet:hover:not(:disabled) {
    border-color: var(--line);
    color: var(--ink);
  }

  button:disabled {
    opacity: 0.5;
    cursor: default;
  }

  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
  }

  code {
    padding: 0.1em 0.35em;
    border-radius: 0.3em;
    background: var(--sunken);
    font-family: var(--mono);
    font-size: 0.88em;
    overflow-wrap: anywhere;
  }

  .visually-hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }

  @media (prefers-reduced-motion: reduce) {
    *,
    *::before,
    *::after {
      animation: none !important;
      transition: none !important;
    }
  }
`;
