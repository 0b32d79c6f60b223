import { css } from "lit";

export const guideStyle = css`
  :host {
    display: block;
    overflow: auto;
    border-bottom: 1px solid var(--line);
    background: var(--surface);
    scrollbar-width: thin;
  }

  .guide {
    display: grid;
    gap: var(--space-3);
    max-width: var(--column);
    margin: 0 auto;
    padding: var(--space-4) var(--gutter);
  }

  header {
    display: flex;
    align-items: center;
    justify-content: space-between;
    gap: var(--space-3);
  }

  h2 {
    font-size: var(--text-l);
    line-height: 1.3;
  }

  fieldset {
    display: flex;
    flex-wrap: wrap;
    gap: var(--space-1);
    width: fit-content;
    min-width: 0;
    max-width: 100%;
    margin: 0;
    padding: var(--space-1);
    border: 0;
    border-radius: var(--radius);
    background: var(--sunken);
  }

  fieldset label {
    position: relative;
  }

  fieldset input {
    position: absolute;
    inset: 0;
    margin: 0;
    opacity: 0;
    cursor: pointer;
  }

  fieldset span {
    display: block;
    padding: var(--space-1) var(--space-3);
    border-radius: calc(var(--radius) - var(--space-1));
    font-size: var(--text-s);
    font-weight: 600;
    color: var(--ink-soft);
  }

  fieldset input:checked + span {
    background: var(--surface);
    color: var(--accent);
    box-shadow: var(--shadow);
  }

  fieldset input:focus-visible + span {
    outline: 2px solid var(--accent);
    outline-offset: 1px;
  }

  .way {
    display: grid;
    gap: var(--space-3);
    margin-top: var(--space-3);
  }

  summary {
    color: var(--ink-soft);
    font-size: var(--text-s);
    cursor: pointer;
  }

  .intro {
    color: var(--ink-soft);
    font-size: var(--text-s);
  }

  ol {
    display: grid;
    gap: var(--space-2);
    padding-inline-start: 1.5em;
    overflow-wrap: anywhere;
  }

  ol ::marker {
    color: var(--accent);
    font-weight: 700;
  }

  .test {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-2) var(--space-3);
  }

  .test p {
    flex: 1 1 12rem;
    font-size: var(--text-s);
    font-weight: 600;
  }

  h2:focus-visible {
    outline: 0;
  }

  .guide > select {
    justify-self: start;
    min-height: 2.25rem;
    padding: var(--space-1) var(--space-2);
    border: 1px solid var(--line);
    border-radius: var(--radius-s);
    background: var(--surface);
  }

  .good {
    color: var(--good);
  }

  .bad {
    color: var(--bad);
  }
`;
