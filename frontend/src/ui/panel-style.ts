import { css } from "lit";

/** What stands inside a dialog. */
export const panelStyle = css`
  .panel {
    display: grid;
    gap: var(--space-3);
    font-size: var(--text-s);
  }

  h3 {
    margin: var(--space-2) 0 0;
    padding-top: var(--space-3);
    border-top: 1px solid var(--line);
    font-size: var(--text-s);
  }

  ul {
    display: grid;
    gap: var(--space-1);
    list-style: none;
  }

  .actions {
    display: flex;
    flex-wrap: wrap;
    gap: var(--space-2);
    margin-top: var(--space-2);
  }
`;
