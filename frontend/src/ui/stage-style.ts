import { css } from "lit";

export const stageStyle = css`
  :host {
    position: relative;
    display: grid;
    grid-template: "cat who language" auto / auto 1fr auto;
    align-items: center;
    column-gap: var(--space-3);
    padding: var(--space-2) var(--gutter);
  }

  pet-cat {
    grid-area: cat;
    width: 4.5rem;
    height: 4.5rem;
  }

  .who {
    grid-area: who;
    min-width: 0;
  }

  .name {
    font-size: var(--text-l);
    font-weight: 700;
    line-height: 1.3;
  }

  .state {
    display: flex;
    align-items: center;
    gap: var(--space-2);
    color: var(--ink-soft);
    font-size: var(--text-s);
    line-height: 1.4;
  }

  .state::before {
    content: "";
    flex: none;
    width: 0.5rem;
    height: 0.5rem;
    border-radius: 50%;
    background: var(--ink-soft);
  }

  .state[data-state="ready"]::before,
  .state[data-state="thinking"]::before,
  .state[data-state="streaming"]::before {
    background: var(--good);
  }

  .state[data-state="demo"]::before {
    background: var(--accent);
  }

  .state[data-state="error"]::before,
  .state[data-state="offline"]::before {
    background: var(--bad);
  }

  .controls {
    grid-area: language;
    display: flex;
    align-items: center;
    gap: var(--space-1);
  }

  .controls button {
    padding-inline: var(--space-2);
  }

  /* What the character says while it waits: beside it, apart from the chat. */
  .aside {
    position: absolute;
    z-index: 1;
    inset-block-start: calc(100% - var(--space-2));
    inset-inline-start: calc(var(--gutter) + 2.25rem);
    max-width: min(20rem, 75%);
    pointer-events: none;
  }

  .aside p {
    position: relative;
    padding: var(--space-2) var(--space-4);
    border: 1px solid var(--accent-line);
    border-radius: var(--radius);
    background: var(--surface);
    box-shadow: var(--shadow);
    font-style: italic;
    overflow-wrap: anywhere;
    text-wrap: pretty;
    animation: appear 0.25s ease-out;
  }

  .aside p::before {
    content: "";
    position: absolute;
    inset-block-start: -0.4rem;
    inset-inline-start: var(--space-4);
    width: 0.7rem;
    height: 0.7rem;
    border: 1px solid var(--accent-line);
    border-width: 1px 0 0 1px;
    background: var(--surface);
    rotate: 45deg;
  }

  @keyframes appear {
    from {
      opacity: 0;
      scale: 0.96;
    }
  }

  @media (min-width: 56rem) {
    :host {
      grid-template: "aside" 1fr "cat" auto "who" auto "language" 1fr / 1fr;
      justify-items: center;
      row-gap: var(--space-4);
      padding: var(--space-5);
    }

    pet-cat {
      width: min(100%, 34rem, 50vh);
      height: auto;
      aspect-ratio: 320 / 330;
    }

    .who {
      text-align: center;
    }

    .name {
      font-size: calc(var(--text-l) * 1.2);
    }

    .state {
      justify-content: center;
    }

    .controls {
      align-self: end;
      justify-self: start;
      gap: var(--space-2);
    }

    .aside {
      position: static;
      grid-area: aside;
      align-self: end;
      max-width: min(100%, 24rem);
    }

    .aside p::before {
      inset-block: auto -0.4rem;
      inset-inline-start: calc(50% - 0.35rem);
      border-width: 0 1px 1px 0;
    }
  }
`;
