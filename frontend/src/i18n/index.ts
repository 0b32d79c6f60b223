import { Signal } from "../lib/signal.js";
import type { TextStorage } from "../lib/storage.js";
import type { Locale } from "../protocol/index.js";
import { en } from "./en.js";
import { zh } from "./zh.js";

export type Catalogue = typeof en;

const CATALOGUES: Readonly<Record<Locale, Catalogue>> = { en, "zh-CN": zh };
const KEY = "pet.locale";

export const wordsOf = (locale: Locale): Catalogue => CATALOGUES[locale];

/** The first language of the browser that we have; English where none is. */
export function preferredLocale(languages: readonly string[]): Locale {
  for (const language of languages) {
    const [primary] = language.toLowerCase().split("-");
    if (primary === "zh") return "zh-CN";
    if (primary === "en") return "en";
  }
  return "en";
}

/** The page's language: the person's choice, else the browser's. */
export class Language {
  readonly locale: Signal<Locale>;

  constructor(
    private readonly storage: TextStorage,
    languages: readonly string[],
  ) {
    const chosen = storage.get(KEY);
    this.locale = new Signal<Locale>(chosen === "en" || chosen === "zh-CN" ? chosen : preferredLocale(languages));
  }

  get words(): Catalogue {
    return wordsOf(this.locale.value);
  }

  toggle(): void {
    const next: Locale = this.locale.value === "en" ? "zh-CN" : "en";
    this.storage.set(KEY, next);
    this.locale.set(next);
  }
}
