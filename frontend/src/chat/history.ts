import type { ChatMessage } from "../protocol/index.js";
import type { Entry, Message } from "./model.js";

/** So many messages the server gives at once. */
export const HISTORY_PAGE = 200;

export function messageFrom(stored: ChatMessage): Message {
  return {
    kind: "message",
    key: stored.id,
    id: stored.id,
    role: stored.role,
    text: stored.text,
    reasoning: "",
    state: stored.interrupted ? "interrupted" : "done",
    origin: stored.origin,
    images: stored.images,
    pictures: [],
    activity: null,
    cost: null,
    at: stored.at,
    error: stored.error ?? null,
  };
}

/**
 * The entries once the server's history has arrived: its messages, then what only this page knows.
 *
 * `local` is what the page shows now, `since` how many of it were there when the history was asked for, and
 * `running` the id of the message whose reply is being written: a part of that reply may be stored already, but
 * the draft shows it.
 */
export function mergeHistory(
  stored: readonly ChatMessage[],
  local: readonly Entry[],
  since: ReadonlySet<string>,
  running: string | null,
): Entry[] {
  const byId = new Map(local.flatMap((entry) => (entry.kind === "message" && entry.id ? [[entry.id, entry]] : [])));
  const asked = stored.findIndex((message) => message.id === running);
  const shown = stored.filter((message, index) => asked < 0 || index <= asked || message.role === "user");
  const ids = new Set(shown.map((message) => message.id));
  const settled = shown.map((message) => {
    const known = byId.get(message.id);
    if (!known) return messageFrom(message);
    const { key, reasoning, pictures, activity, cost } = known;
    return { ...messageFrom(message), key, reasoning, pictures, activity, cost };
  });
  const further = above(stored, local);
  return [...further, ...settled, ...local.slice(further.length).filter((entry) => isOnlyHere(entry, ids, since))];
}

/** What was read further up before: it stays, where the server's page begins in the midst of what is here. */
function above(stored: readonly ChatMessage[], local: readonly Entry[]): readonly Entry[] {
  const [first] = stored;
  const start = first ? local.findIndex((entry) => entry.kind === "message" && entry.id === first.id) : -1;
  return stored.length >= HISTORY_PAGE && start > 0 ? local.slice(0, start) : [];
}

function isOnlyHere(entry: Entry, stored: ReadonlySet<string>, since: ReadonlySet<string>): boolean {
  if (entry.kind !== "message") return !since.has(entry.key);
  if (entry.state === "waiting" || entry.state === "unsure" || entry.state === "refused") return true;
  return entry.id !== null && !stored.has(entry.id) && !since.has(entry.key);
}
