import { RequestError } from "../connection/requests.js";
import type { Catalogue } from "../i18n/index.js";

/** What to tell the person about a request that failed; the server's words are in their language already. */
export function failureText(error: unknown, words: Catalogue): string {
  if (!(error instanceof RequestError)) return words.failure.timeout;
  if (error.code === "offline" || error.code === "timeout") return words.failure[error.code];
  return error.message;
}
