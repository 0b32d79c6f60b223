import { css } from "lit";

/** How the activity of a turn looks; for the root that <pet-activity> stands in. */
export const activityStyle = css`
  pet-activity {
    display: flex;
    flex-wrap: wrap;
    gap: var(--space-2);
    width: min(100%, 42rem);
    margin-block-end: var(--space-1);
    color: var(--ink-soft);
    font-size: var(--text-s);
    line-height: 1.5;
  }

  .calls {
    flex: 1 1 100%;
    min-width: 0;
  }

  .calls summary {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 0 var(--space-3);
    width: fit-content;
    max-width: 100%;
    padding: var(--space-1) var(--space-2);
    border-radius: var(--radius-s);
    overflow-wrap: anywhere;
    cursor: pointer;
  }

  .calls summary::before {
    content: "›";
    width: 0.6em;
    transition: rotate 0.15s;
  }

  .calls[open] summary::before {
    rotate: 90deg;
  }

  .calls summary::-webkit-details-marker {
    display: none;
  }

  .calls summary:hover {
    color: var(--ink);
  }

  .doing {
    font-weight: 600;
  }

  .brief,
  .sight {
    display: inline-flex;
    align-items: center;
    gap: var(--space-1);
    min-width: 0;
  }

  .sight {
    flex: 1 1 100%;
    padding-inline: var(--space-2);
  }

  .ms {
    font-variant-numeric: tabular-nums;
    white-space: nowrap;
  }

  .outcome {
    flex: none;
    align-self: center;
    width: 1em;
    height: 1em;
  }

  .ok .outcome,
  .sight[data-outcome="ok"] .outcome {
    color: var(--good);
  }

  .error .outcome,
  .timeout .outcome,
  .sight:not([data-outcome="ok"]) .outcome {
    color: var(--bad);
  }

  .running .outcome {
    color: var(--accent);
    animation: turn 1.4s linear infinite;
  }

  .steps {
    display: grid;
    gap: var(--space-2);
    margin-block: var(--space-1);
    padding: var(--space-2) var(--space-3);
    border: 1px solid var(--line);
    border-radius: var(--radius-s);
    background: var(--surface);
    overflow-wrap: anywhere;
  }

  .steps ul {
    display: grid;
    gap: var(--space-1);
    list-style: none;
  }

  .step {
    font-weight: 600;
  }

  .call {
    display: grid;
    grid-template-columns: auto minmax(0, auto) minmax(0, 1fr) auto;
    align-items: baseline;
    gap: 0 var(--space-2);
  }

  .call .tool {
    color: var(--ink);
  }

  .call code {
    justify-self: start;
    max-width: 100%;
    background: none;
    font-size: 0.75rem;
  }

  .how {
    text-align: end;
  }

  .why {
    grid-column: 2 / -1;
    overflow-wrap: anywhere;
  }

  .why progress {
    width: 6rem;
    height: 0.35rem;
    accent-color: var(--accent);
    vertical-align: middle;
  }

  .shot {
    flex-direction: column;
    align-items: stretch;
    gap: var(--space-1);
    width: min(100%, 14rem);
    padding: var(--space-1);
    border-radius: var(--radius-s);
    color: var(--ink-soft);
    font-weight: 400;
    text-align: start;
  }

  .shot img {
    display: block;
    width: 100%;
    max-height: 9rem;
    border-radius: calc(var(--radius-s) - var(--space-1));
    object-fit: cover;
    object-position: top;
  }

  .shot span {
    padding-inline: var(--space-1);
  }

  @media (max-width: 32rem) {
    .call code {
      grid-row: 2;
      grid-column: 2 / -1;
    }

    .how {
      grid-column: 4;
    }
  }

  @keyframes turn {
    to {
      rotate: 360deg;
    }
  }
`;
