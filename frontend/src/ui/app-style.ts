import { css } from "lit";

/** One column up to 56rem, the character beside the chat beyond. */
export const appStyle = css`
  :host {
    --column: 50rem;
    --gutter: var(--space-4);

    display: grid;
    grid-template: auto minmax(0, 1fr) / minmax(0, 1fr);
    height: 100vh;
    height: 100dvh;
  }

  pet-stage {
    border-bottom: 1px solid var(--line);
    background: var(--sunken);
  }

  main {
    position: relative;
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
  }

  pet-transcript,
  pet-door {
    flex: 1;
    min-height: 0;
  }

  pet-demo-banner,
  pet-connection-bar,
  pet-composer {
    flex: none;
  }

  pet-guide {
    flex: 0 1 auto;
    max-height: 70%;
  }

  .folded {
    display: flex;
    align-items: center;
    justify-content: center;
    gap: var(--space-3);
    padding: var(--space-2) var(--gutter);
    border-bottom: 1px solid var(--line);
    font-size: var(--text-s);
  }

  @media (min-width: 56rem) {
    :host {
      --gutter: var(--space-5);

      grid-template: minmax(0, 1fr) / minmax(18rem, 2fr) minmax(0, 3fr);
    }

    pet-stage {
      border-bottom: 0;
      border-inline-end: 1px solid var(--line);
    }
  }
`;
