/** The part of the browser's storage that the page needs. */
export interface TextStorage {
  get(key: string): string | null;
  set(key: string, value: string | null): void;
}

/**
 * A storage that never throws: where the browser refuses (private windows, blocked cookies, a full quota),
 * values last as long as the page.
 */
export function safeStorage(open: () => Storage): TextStorage {
  const memory = new Map<string, string | null>();
  return {
    get(key) {
      if (memory.has(key)) return memory.get(key) ?? null;
      try {
        return open().getItem(key);
      } catch {
        return null;
      }
    },
    set(key, value) {
      try {
        if (value === null) open().removeItem(key);
        else open().setItem(key, value);
        memory.delete(key);
      } catch {
        memory.set(key, value);
      }
    },
  };
}
