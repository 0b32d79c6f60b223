import type { TextStorage } from "../lib/storage.js";

/** From where a session's frames are wanted again. */
export interface ResumePoint {
  readonly session: string;
  readonly seq: number;
}

const KEY = "pet.resume";

export function loadResumePoint(storage: TextStorage): ResumePoint | null {
  try {
    const point: unknown = JSON.parse(storage.get(KEY) ?? "null");
    if (typeof point !== "object" || point === null) return null;
    const { session, seq } = point as Partial<ResumePoint>;
    return typeof session === "string" && typeof seq === "number" ? { session, seq } : null;
  } catch {
    return null;
  }
}

export function saveResumePoint(storage: TextStorage, point: ResumePoint): void {
  storage.set(KEY, JSON.stringify(point));
}
