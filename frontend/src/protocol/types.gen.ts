// Generated from server/protocol.py by `npm run generate`; do not edit.

export interface Avatar {
  readonly expressions: Readonly<Record<string, unknown>>;
  readonly model: string;
  readonly motions: Readonly<Record<string, unknown>>;
  readonly renderer: string;
}

export interface AvatarTouch {
  readonly area: string;
  readonly id?: string;
  readonly type: "avatar.touch";
}

export interface Cancel {
  readonly id?: string;
  readonly turn?: number;
  readonly type: "cancel";
}

/** What a provider's model can do; null = not known yet. */
export interface Capabilities {
  readonly json_schema?: boolean;
  readonly reasoning_field?: string;
  readonly streaming_usage?: boolean;
  readonly system_role?: boolean;
  readonly tools?: boolean;
  readonly vision?: boolean;
}

export interface Chat {
  readonly messages: readonly ChatMessage[];
  readonly re?: string;
  readonly seq?: number;
  readonly type: "chat";
}

export interface ChatClear {
  readonly id?: string;
  readonly type: "chat.clear";
}

export interface ChatHistory {
  readonly before?: string;
  readonly id?: string;
  readonly limit?: number;
  readonly type: "chat.history";
}

export interface ChatMessage {
  readonly at: string;
  readonly error?: "bad_frame" | "bad_request" | "too_large" | "rate_limited" | "busy" | "conflict" | "not_found" | "needs_model" | "provider_unreachable" | "provider_auth" | "provider_rate_limited" | "provider_error" | "context_overflow" | "first_token_timeout" | "stream_interrupted" | "empty_reply" | "forbidden" | "internal";
  readonly id: string;
  readonly images: number;
  readonly interrupted: boolean;
  readonly origin: "user" | "nudge";
  readonly role: "user" | "assistant";
  readonly text: string;
}

export type ClientFrame =
  | Hello
  | Send
  | Cancel
  | StatusRequest
  | ModelsList
  | ModelsSelect
  | ProviderTest
  | SettingsGet
  | SettingsUpdate
  | ChatHistory
  | ChatClear
  | ContextUpdate
  | ConsentAnswer
  | SayRequest
  | AvatarTouch;

export interface Command {
  readonly description: string;
  readonly name: string;
}

export interface ConsentAnswer {
  readonly answer: "once" | "always" | "never";
  readonly consent_id: string;
  readonly id?: string;
  readonly type: "consent.answer";
}

/** The owner is asked; no answer in 30 s is a no. */
export interface ConsentRequest {
  readonly capability: "screenshot" | "checks";
  readonly consent_id: string;
  readonly detail: string;
  readonly re?: string;
  readonly seq?: number;
  readonly turn: number;
  readonly type: "consent.request";
}

export interface ContextUpdate {
  readonly id?: string;
  readonly source: string;
  readonly text: string;
  readonly ttl_s?: number;
  readonly type: "context.update";
}

export interface Delta {
  readonly re?: string;
  readonly seq?: number;
  readonly text: string;
  readonly turn: number;
  readonly type: "delta";
}

export interface Error {
  readonly code: "bad_frame" | "bad_request" | "too_large" | "rate_limited" | "busy" | "conflict" | "not_found" | "needs_model" | "provider_unreachable" | "provider_auth" | "provider_rate_limited" | "provider_error" | "context_overflow" | "first_token_timeout" | "stream_interrupted" | "empty_reply" | "forbidden" | "internal";
  readonly message: string;
  readonly re?: string;
  readonly retry_after_s?: number;
  readonly seq?: number;
  readonly type: "error";
}

export interface ExpressionFrame {
  readonly expression: "smile" | "squint-eyes" | "tears" | "tear-drop";
  readonly hold_ms: number;
  readonly re?: string;
  readonly seq?: number;
  readonly turn: number;
  readonly type: "expression";
}

export interface Hello {
  readonly client?: string;
  readonly id?: string;
  readonly last_seq?: number;
  readonly locale?: "zh-CN" | "en";
  readonly new?: boolean;
  readonly protocol: 1;
  readonly session?: string;
  readonly type: "hello";
}

/** A picture that came with a message; ``data`` is base64. */
export interface Image {
  readonly data: string;
  readonly mime: "image/png" | "image/jpeg" | "image/webp" | "image/gif";
}

/** What a client must keep to; sizes in bytes unless named otherwise. */
export interface Limits {
  readonly max_frame_bytes: number;
  readonly max_image_bytes: number;
  readonly max_images: number;
  readonly max_text_chars: number;
  readonly turns_per_minute: number;
}

export interface McpServerStatus {
  readonly error?: string;
  readonly name: string;
  readonly state: string;
  readonly tools: number;
}

export interface MemoryCounts {
  readonly candidates: number;
  readonly items: number;
}

export interface Models {
  readonly models: readonly string[];
  readonly provider: string;
  readonly re?: string;
  readonly seq?: number;
  readonly type: "models";
}

export interface ModelsList {
  readonly id?: string;
  readonly provider: string;
  readonly type: "models.list";
}

export interface ModelsSelect {
  readonly id?: string;
  readonly model: string;
  readonly provider: string;
  readonly role: "chat" | "tool" | "vision";
  readonly supports_vision?: boolean;
  readonly type: "models.select";
}

export interface MotionFrame {
  readonly motion: "talk" | "nod" | "shake" | "blink";
  readonly re?: string;
  readonly seq?: number;
  readonly turn: number;
  readonly type: "motion";
}

export interface Notice {
  readonly code: string;
  readonly level: "info" | "warning" | "error";
  readonly message: string;
  readonly re?: string;
  readonly seq?: number;
  readonly type: "notice";
}

export interface Ok {
  readonly re?: string;
  readonly seq?: number;
  readonly type: "ok";
}

export interface Ping {
  readonly re?: string;
  readonly seq?: number;
  readonly type: "ping";
}

export interface ProviderTest {
  readonly id?: string;
  readonly provider: string;
  readonly type: "provider.test";
}

export interface ProviderTested {
  readonly code?: "bad_frame" | "bad_request" | "too_large" | "rate_limited" | "busy" | "conflict" | "not_found" | "needs_model" | "provider_unreachable" | "provider_auth" | "provider_rate_limited" | "provider_error" | "context_overflow" | "first_token_timeout" | "stream_interrupted" | "empty_reply" | "forbidden" | "internal";
  readonly latency_ms?: number;
  readonly message?: string;
  readonly ok: boolean;
  readonly provider: string;
  readonly re?: string;
  readonly seq?: number;
  readonly type: "provider.tested";
}

export interface Reasoning {
  readonly re?: string;
  readonly seq?: number;
  readonly text: string;
  readonly turn: number;
  readonly type: "reasoning";
}

export interface RoleStatus {
  readonly capabilities: Capabilities;
  readonly context_tokens?: number;
  readonly model: string;
  readonly provider: string;
}

export interface Say {
  readonly expression?: "smile" | "squint-eyes" | "tears" | "tear-drop";
  readonly re?: string;
  readonly seq?: number;
  readonly source: string;
  readonly text: string;
  readonly type: "say";
}

export interface SayRequest {
  readonly expression?: "smile" | "squint-eyes" | "tears" | "tear-drop";
  readonly id?: string;
  readonly text: string;
  readonly type: "say";
}

/** ``context`` stays raw here: it is copied by allow-list, never refused (server.session.context). */
export interface Send {
  readonly context?: unknown;
  readonly id?: string;
  readonly images?: readonly Image[];
  readonly text: string;
  readonly type: "send";
}

export interface Sentence {
  readonly index: number;
  readonly re?: string;
  readonly seq?: number;
  readonly text: string;
  readonly turn: number;
  readonly type: "sentence";
}

export type ServerFrame =
  | Welcome
  | State
  | TurnStart
  | TurnRoute
  | ConsentRequest
  | ToolStart
  | ToolProgress
  | ToolEnd
  | Vision
  | Waiting
  | Reasoning
  | Delta
  | Sentence
  | MotionFrame
  | ExpressionFrame
  | TurnDone
  | TurnError
  | TurnCancelled
  | Say
  | Notice
  | Ping
  | Error
  | Ok
  | Models
  | ProviderTested
  | SettingsFrame
  | StatusFrame
  | Chat;

/** The public projection of lab.toml: dotted key to value; no key, prompt or path. */
export interface Settings {
  readonly revision: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export interface SettingsFrame {
  readonly re?: string;
  readonly revision: string;
  readonly seq?: number;
  readonly type: "settings";
  readonly values: Readonly<Record<string, unknown>>;
}

export interface SettingsGet {
  readonly id?: string;
  readonly type: "settings.get";
}

export interface SettingsUpdate {
  readonly changes: Readonly<Record<string, unknown>>;
  readonly id?: string;
  readonly revision: string;
  readonly type: "settings.update";
}

export interface State {
  readonly detail?: string;
  readonly guide?: "ollama" | "lmstudio" | "builtin" | "cloud";
  readonly re?: string;
  readonly seq?: number;
  readonly state: "needs-local-model" | "testing-connection" | "model-selection" | "ready" | "streaming" | "error";
  readonly type: "state";
}

export interface StatusFrame {
  readonly detail?: string;
  readonly guide?: "ollama" | "lmstudio" | "builtin" | "cloud";
  readonly mcp: readonly McpServerStatus[];
  readonly memory: MemoryCounts;
  readonly re?: string;
  readonly roles: Partial<Readonly<Record<"chat" | "tool" | "vision", RoleStatus>>>;
  readonly seq?: number;
  readonly sessions: number;
  readonly state: "needs-local-model" | "testing-connection" | "model-selection" | "ready" | "streaming" | "error";
  readonly tools: readonly ToolStatus[];
  readonly type: "status";
  readonly usage_today: Partial<Readonly<Record<"chat" | "tool" | "vision", Usage>>>;
  readonly version: string;
  readonly workspace?: string;
}

export interface StatusRequest {
  readonly id?: string;
  readonly type: "status";
}

/** A small copy of a picture that a tool gave; ``data`` is base64. */
export interface Thumbnail {
  readonly data: string;
  readonly mime: "image/jpeg";
}

/** Milliseconds. */
export interface Timing {
  readonly first_delta_ms?: number;
  readonly tool_ms: number;
  readonly total_ms: number;
}

/** ``thumbnail`` is an addition to the design: the page shows each screenshot that was taken. */
export interface ToolEnd {
  readonly call_id: string;
  readonly error?: string;
  readonly ms: number;
  readonly name: string;
  readonly outcome: "ok" | "error" | "timeout" | "deferred" | "denied" | "cancelled";
  readonly re?: string;
  readonly seq?: number;
  readonly step: number;
  readonly thumbnail?: Thumbnail;
  readonly turn: number;
  readonly type: "tool.end";
}

export interface ToolProgress {
  readonly call_id: string;
  readonly done?: number;
  readonly note?: string;
  readonly re?: string;
  readonly seq?: number;
  readonly total?: number;
  readonly turn: number;
  readonly type: "tool.progress";
}

export interface ToolStart {
  readonly call_id: string;
  readonly name: string;
  readonly re?: string;
  readonly seq?: number;
  readonly step: number;
  readonly turn: number;
  readonly type: "tool.start";
}

export interface ToolStatus {
  readonly enabled: boolean;
  readonly name: string;
}

export interface TurnCancelled {
  readonly re?: string;
  readonly seq?: number;
  readonly text: string;
  readonly turn: number;
  readonly type: "turn.cancelled";
}

export interface TurnDone {
  readonly finish_reason: string;
  readonly memories: readonly string[];
  readonly message_id: string;
  readonly re?: string;
  readonly seq?: number;
  readonly text: string;
  readonly timing: Timing;
  readonly turn: number;
  readonly type: "turn.done";
  readonly usage: Partial<Readonly<Record<"chat" | "tool" | "vision", Usage>>>;
}

export interface TurnError {
  readonly code: "bad_frame" | "bad_request" | "too_large" | "rate_limited" | "busy" | "conflict" | "not_found" | "needs_model" | "provider_unreachable" | "provider_auth" | "provider_rate_limited" | "provider_error" | "context_overflow" | "first_token_timeout" | "stream_interrupted" | "empty_reply" | "forbidden" | "internal";
  readonly hint?: string;
  readonly message: string;
  readonly re?: string;
  readonly retryable: boolean;
  readonly seq?: number;
  readonly turn: number;
  readonly type: "turn.error";
}

export interface TurnRoute {
  readonly path: "fast" | "tool" | "both";
  readonly re?: string;
  readonly reasons: readonly string[];
  readonly seq?: number;
  readonly turn: number;
  readonly type: "turn.route";
}

export interface TurnStart {
  readonly message_id: string;
  readonly origin: "user" | "nudge";
  readonly re?: string;
  readonly seq?: number;
  readonly text?: string;
  readonly turn: number;
  readonly type: "turn.start";
}

/** Tokens. */
export interface Usage {
  readonly completion: number;
  readonly prompt: number;
}

/** The vision model described ``images`` pictures for a text-only chat model. */
export interface Vision {
  readonly images: number;
  readonly ms: number;
  readonly outcome: "ok" | "error" | "timeout" | "deferred" | "denied" | "cancelled";
  readonly re?: string;
  readonly seq?: number;
  readonly turn: number;
  readonly type: "vision";
}

/** One of the persona's waiting lines: no part of the reply or the history. */
export interface Waiting {
  readonly re?: string;
  readonly seq?: number;
  readonly text: string;
  readonly turn: number;
  readonly type: "waiting";
}

export interface Welcome {
  readonly avatar: Avatar;
  readonly commands: readonly Command[];
  readonly detail?: string;
  readonly guide?: "ollama" | "lmstudio" | "builtin" | "cloud";
  readonly limits: Limits;
  readonly protocol: 1;
  readonly re?: string;
  readonly resumed: boolean;
  readonly role: "owner" | "visitor";
  readonly seq?: number;
  readonly session: string;
  readonly settings?: Settings;
  readonly state: "needs-local-model" | "testing-connection" | "model-selection" | "ready" | "streaming" | "error";
  readonly type: "welcome";
  readonly version?: string;
}
