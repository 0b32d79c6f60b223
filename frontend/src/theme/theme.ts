import { Signal } from "../lib/signal.js";
import type { TextStorage } from "../lib/storage.js";

/** `system`: as the system has it, now and whenever that changes. */
const CHOICES = ["system", "light", "dark"] as const;
export type ThemeChoice = (typeof CHOICES)[number];

/** public/theme.js reads it before the first paint. */
export const THEME_KEY = "pet.theme";

/** Light or dark, by the person's choice, which is kept. */
export class Theme {
  readonly choice: Signal<ThemeChoice>;

  constructor(private readonly storage: TextStorage) {
    this.choice = new Signal(this.#kept());
  }

  /** The next choice, round the three. */
  next(): void {
    const next = CHOICES[(CHOICES.indexOf(this.choice.value) + 1) % CHOICES.length] ?? "system";
    this.storage.set(THEME_KEY, next === "system" ? null : next);
    this.choice.set(next);
  }

  /** Another tab may have chosen. */
  reread(): void {
    this.choice.set(this.#kept());
  }

  #kept(): ThemeChoice {
    const kept = this.storage.get(THEME_KEY);
    return CHOICES.find((choice) => choice === kept) ?? "system";
  }
}
