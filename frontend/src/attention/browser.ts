import type { Catalogue } from "../i18n/index.js";
import type { Caller, Occasion } from "./attention.js";

/** The browser's own notifications; where they fail (some phones know none of this kind) nothing happens. */
export function browserCaller(words: () => Catalogue): Caller {
  let shown: Notification[] = [];
  const known = () => "Notification" in window;
  return {
    hidden: () => document.hidden,
    permission: () => (known() ? Notification.permission : "unsupported"),
    async request() {
      if (known()) await Notification.requestPermission();
    },
    call(occasion: Occasion) {
      const { name, notify, tag: lang } = words();
      try {
        // One tag: tabs that say the same show it once.
        const notification = new Notification(name, { body: notify[occasion], tag: `pet-${occasion}`, lang, silent: true });
        notification.onclick = () => {
          window.focus();
          notification.close();
        };
        shown.push(notification);
      } catch {
        // The count in the title says it too.
      }
    },
    quiet() {
      for (const notification of shown) notification.close();
      shown = [];
    },
  };
}
