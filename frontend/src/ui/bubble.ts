import { css } from "lit";

/** How a message looks, finished or still being written; for the root that it stands in. */
export const bubble = css`
  pet-message,
  pet-draft {
    display: flex;
    flex-direction: column;
    align-items: flex-start;
    gap: var(--space-1);
  }

  pet-message[data-role="user"] {
    align-items: flex-end;
  }

  .bubble {
    max-width: min(100%, 42rem);
    min-width: 0;
    padding: var(--space-2) var(--space-4);
    border: 1px solid var(--line);
    border-radius: var(--radius);
  }

  .reply {
    border-start-start-radius: var(--space-1);
    background: var(--surface);
  }

  .own {
    max-width: min(88%, 38rem);
    border-color: var(--accent-line);
    border-end-end-radius: var(--space-1);
    background: var(--accent-soft);
  }

  .notes {
    display: flex;
    align-items: center;
    gap: var(--space-2);
    padding-inline: var(--space-2);
    color: var(--ink-soft);
    font-size: var(--text-s);
  }

  .notes button {
    min-height: 1.75rem;
    padding-inline: var(--space-2);
  }

  .pictures {
    display: flex;
    flex-wrap: wrap;
    gap: var(--space-2);
    margin-block: var(--space-1);
  }

  .pictures button {
    padding: 0;
    border: 0;
    border-radius: var(--radius-s);
    background: none;
  }

  .pictures img {
    display: block;
    width: auto;
    max-width: min(100%, 16rem);
    height: auto;
    max-height: 12rem;
    border-radius: var(--radius-s);
  }

  /* The time of a message, and what can be done with it, are there for whoever looks for them. */
  .foot {
    display: flex;
    align-items: flex-start;
    gap: var(--space-2);
    max-width: 100%;
    min-height: 1.75rem;
    padding-inline: var(--space-2);
  }

  .foot .actions {
    display: flex;
    flex: none;
  }

  .foot .actions button {
    width: 1.75rem;
    min-height: 1.75rem;
    padding: 0;
  }

  .foot .actions svg {
    width: 1rem;
    height: 1rem;
  }

  .when {
    padding-block: 0.25rem;
    color: var(--ink-soft);
    font-size: 0.75rem;
    line-height: 1.25rem;
  }

  .when summary {
    width: fit-content;
    cursor: pointer;
  }

  .when ul {
    display: grid;
    list-style: none;
  }

  @media (hover: hover) {
    .foot:not(:has([open])) {
      opacity: 0;
      transition: opacity 0.15s;
    }

    li:hover .foot,
    li:last-child .foot,
    .foot:focus-within {
      opacity: 1 !important;
    }
  }

  .thoughts {
    margin-block: var(--space-1) var(--space-2);
    color: var(--ink-soft);
    font-size: var(--text-s);
  }

  .thoughts summary {
    cursor: pointer;
  }

  .thoughts .text {
    margin-top: var(--space-2);
    padding-inline-start: var(--space-3);
    border-inline-start: 2px solid var(--line);
  }

  .bubble .text {
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }

  .dots {
    display: flex;
    gap: 0.35rem;
    align-items: center;
    height: 1.6em;
  }

  .dots i {
    width: 0.45rem;
    height: 0.45rem;
    border-radius: 50%;
    background: var(--ink-soft);
    animation: wait 1.2s ease-in-out infinite;
  }

  .dots i:nth-child(2) {
    animation-delay: 0.15s;
  }

  .dots i:nth-child(3) {
    animation-delay: 0.3s;
  }

  @keyframes wait {
    0%,
    60%,
    100% {
      opacity: 0.3;
    }
    30% {
      opacity: 1;
      transform: translateY(-0.15rem);
    }
  }
`;
