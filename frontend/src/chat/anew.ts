import type { Chat, Entry, Message } from "./model.js";

/** The newest message of the person; null where there is none, or nobody knows yet whether it arrived. */
export function lastOwn(entries: readonly Entry[]): Message | null {
  const own = entries.findLast((entry): entry is Message => entry.kind === "message" && entry.role === "user");
  return own && own.state === "done" ? own : null;
}

/** The message that can be asked once more because its reply is the newest there is; null = not now. */
export function askedLast({ entries, draft }: Chat): Message | null {
  const question = lastOwn(entries);
  const reply = entries.findLast((entry) => entry.kind === "message");
  if (draft || !question || reply?.role !== "assistant" || reply.origin !== "user") return null;
  // Pictures live as long as the page: without them it would be another question.
  return question.images === question.pictures.length ? question : null;
}
