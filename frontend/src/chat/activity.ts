import type { ServerFrameOf, ToolOutcome } from "../protocol/index.js";

/** How far long work has come, in the tool's own measure. */
export interface Progress {
  readonly done: number | null;
  readonly total: number | null;
  readonly note: string | null;
}

/** One call of a tool, from its start on. */
export interface Call {
  readonly id: string;
  readonly step: number;
  readonly name: string;
  readonly outcome: ToolOutcome | "running";
  readonly progress: Progress | null;
  /** How long it took; null while it runs and where nobody measured it. */
  readonly ms: number | null;
  readonly error: string | null;
  /** A small copy of the picture that it gave, as a data: address. */
  readonly picture: string | null;
}

/** Pictures that the vision model looked at, for a chat model that can't. */
export interface Sight {
  readonly images: number;
  readonly outcome: ToolOutcome;
  readonly ms: number;
}

/** What a turn did apart from talking. */
export interface Activity {
  readonly calls: readonly Call[];
  readonly sights: readonly Sight[];
  /** The whole of the tools' time; null as long as the turn is not done. */
  readonly ms: number | null;
}

export type ActivityFrame = ServerFrameOf<"tool.start" | "tool.progress" | "tool.end" | "vision">;

const NOTHING: Activity = { calls: [], sights: [], ms: null };

/** What was done so far, with `frame`. */
export function withFrame(before: Activity | null, frame: ActivityFrame): Activity {
  const activity = before ?? NOTHING;
  switch (frame.type) {
    case "tool.start":
      return { ...activity, calls: put(activity.calls, started(frame)) };
    case "tool.progress":
      return { ...activity, calls: activity.calls.map((call) => (isRunning(call, frame.call_id) ? progressed(call, frame) : call)) };
    case "tool.end":
      return { ...activity, calls: put(activity.calls, ended(frame)) };
    case "vision": {
      const { images, outcome, ms } = frame;
      return { ...activity, sights: [...activity.sights, { images, outcome, ms }] };
    }
  }
}

/** The turn is over: whatever still runs was given up. `toolMs` is the server's measure, where it gave one. */
export function settled(activity: Activity | null, toolMs = 0): Activity | null {
  if (!activity) return null;
  const calls = activity.calls.map((call): Call => (call.outcome === "running" ? { ...call, outcome: "cancelled" } : call));
  return { ...activity, calls, ms: toolMs > 0 ? toolMs : steps(calls).reduce((sum, step) => sum + longest(step), 0) };
}

/** The calls step by step; those of one step ran side by side. */
export function steps(calls: readonly Call[]): Call[][] {
  const byStep = new Map<number, Call[]>();
  for (const call of calls) byStep.set(call.step, [...(byStep.get(call.step) ?? []), call]);
  return [...byStep.entries()].sort(([one], [other]) => one - other).map(([, together]) => together);
}

/** The share that is done, 0 to 1; null where nobody can say. */
export function share({ done, total }: Progress): number | null {
  if (done === null || total === null || !(total > 0)) return null;
  return Math.min(1, Math.max(0, done / total));
}

const longest = (calls: readonly Call[]) => Math.max(0, ...calls.map((call) => call.ms ?? 0));

const isRunning = (call: Call, id: string) => call.id === id && call.outcome === "running";

function started({ call_id: id, step, name }: ServerFrameOf<"tool.start">): Call {
  return { id, step, name, outcome: "running", progress: null, ms: null, error: null, picture: null };
}

function progressed(call: Call, { done, total, note }: ServerFrameOf<"tool.progress">): Call {
  return { ...call, progress: { done: done ?? null, total: total ?? null, note: note ?? null } };
}

function ended(frame: ServerFrameOf<"tool.end">): Call {
  const { call_id: id, step, name, outcome, ms, error, thumbnail } = frame;
  const picture = thumbnail ? `data:${thumbnail.mime};base64,${thumbnail.data}` : null;
  return { id, step, name, outcome, progress: null, ms, error: error ?? null, picture };
}

/** A model may give one id to calls of two steps, so both count. */
function put(calls: readonly Call[], call: Call): Call[] {
  const index = calls.findIndex((known) => known.id === call.id && known.step === call.step);
  return index < 0 ? [...calls, call] : calls.with(index, call);
}
