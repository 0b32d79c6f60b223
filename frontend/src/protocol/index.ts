/** The wire's types under the names that the page uses; all of them derive from types.gen.ts. */
import type { ChatMessage, ClientFrame, Hello, Image, Limits, ServerFrame, Welcome } from "./types.gen.js";

export type { ChatMessage, ClientFrame, Image, Limits, ServerFrame };

export type ClientFrameOf<T extends ClientFrame["type"]> = Extract<ClientFrame, { type: T }>;
export type ServerFrameOf<T extends ServerFrame["type"]> = Extract<ServerFrame, { type: T }>;

export type Locale = NonNullable<Hello["locale"]>;
export type StateName = Welcome["state"];
export type Guide = NonNullable<Welcome["guide"]>;
export type ErrorCode = ServerFrameOf<"error">["code"];
export type Expression = ServerFrameOf<"expression">["expression"];
export type Motion = ServerFrameOf<"motion">["motion"];
export type NoticeLevel = ServerFrameOf<"notice">["level"];
export type TurnOrigin = ServerFrameOf<"turn.start">["origin"];
export type ToolOutcome = ServerFrameOf<"tool.end">["outcome"];
export type RoutePath = ServerFrameOf<"turn.route">["path"];
export type Timing = ServerFrameOf<"turn.done">["timing"];
export type Capability = ServerFrameOf<"consent.request">["capability"];
export type ConsentWord = ClientFrameOf<"consent.answer">["answer"];
export type Role = ClientFrameOf<"models.select">["role"];
/** Tokens a role. */
export type UsageByRole = ServerFrameOf<"turn.done">["usage"];

export const PROTOCOL_VERSION: Hello["protocol"] = 1;

/** Reads one frame of the server; null when it is nothing that this version could understand. */
export function parseFrame(data: unknown): ServerFrame | null {
  if (typeof data !== "string") return null;
  try {
    const frame: unknown = JSON.parse(data);
    const known = typeof frame === "object" && frame !== null && "type" in frame && typeof frame.type === "string";
    // A frame of an unknown type passes through here and is ignored by everyone who switches on `type`.
    return known ? (frame as ServerFrame) : null;
  } catch {
    return null;
  }
}
