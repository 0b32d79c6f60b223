/** How long a button says that it has copied. */
export const COPIED_MS = 2_000;

/** Puts a text into the clipboard; false where the browser doesn't allow it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
