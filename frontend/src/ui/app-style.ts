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
    z-index: 1;
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
  pet-consent,
  pet-notify-offer,
  pet-composer {
    flex: none;
  }

  pet-guide {
    flex: 0 1 auto;
    max-height: 70%;
  }

  .drop {
    position: absolute;
    inset: var(--space-3);
    z-index: 3;
    display: grid;
    place-items: center;
    border: 2px dashed var(--accent);
    border-radius: var(--radius);
    background: color-mix(in srgb, var(--page) 85%, transparent);
    color: var(--accent);
    font-weight: 600;
    pointer-events: none;
  }

  .enlarged {
    display: block;
    max-width: 100%;
    max-height: calc(100vh - 9rem);
    min-width: min(100%, 20rem);
    margin: 0 auto;
    border-radius: var(--radius-s);
    object-fit: contain;
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
