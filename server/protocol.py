"""Every frame on the wire, version 1: the one source of truth.

Pure data: no sockets, no session logic. ``python -m server.protocol`` prints the JSON Schema from
which the page's TypeScript types are generated (``frontend/src/protocol/``).

Nothing but the shapes: :mod:`server.frames` reads and writes them.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.json_schema import models_json_schema
from pydantic_core import PydanticCustomError

PROTOCOL_VERSION: Final = 1

ErrorCode = Literal[
    "bad_frame",
    "bad_request",
    "too_large",
    "rate_limited",
    "busy",
    "conflict",
    "not_found",
    "needs_model",
    "provider_unreachable",
    "provider_auth",
    "provider_rate_limited",
    "provider_error",
    "context_overflow",
    "first_token_timeout",
    "stream_interrupted",
    "empty_reply",
    "forbidden",
    "internal",
]
StateName = Literal[
    "needs-local-model", "testing-connection", "model-selection", "ready", "streaming", "error"
]
Role = Literal["chat", "tool", "vision"]
ClientRole = Literal["owner", "visitor"]
Locale = Literal["zh-CN", "en"]
Motion = Literal["talk", "nod", "shake", "blink"]
Expression = Literal["smile", "squint-eyes", "tears", "tear-drop"]
Guide = Literal["ollama", "lmstudio", "builtin", "cloud"]
TurnOrigin = Literal["user", "nudge"]
RoutePath = Literal["fast", "tool", "both"]
ToolOutcome = Literal["ok", "error", "timeout", "deferred", "denied", "cancelled"]
Capability = Literal["screenshot", "checks"]
ConsentAnswerWord = Literal["once", "always", "never"]
NoticeLevel = Literal["info", "warning", "error"]

MOTIONS: Final[tuple[str, ...]] = get_args(Motion)
EXPRESSIONS: Final[tuple[str, ...]] = get_args(Expression)
EXPRESSION_HOLD_MS: Final = 4000

Id = Annotated[str, Field(max_length=64)]


def _whole(value: Any) -> Any:
    """Python takes ``true`` and ``1.0`` for 1; the protocol doesn't."""
    if type(value) is not int:
        raise PydanticCustomError("int_type", "not a whole number")
    return value


# --- client to server -----------------------------------------------------------------------


class Request(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    id: Id | None = None


class Hello(Request):
    type: Literal["hello"]
    protocol: Annotated[Literal[1], BeforeValidator(_whole)]
    session: Id | None = None
    last_seq: Annotated[int, Field(ge=0)] | None = None
    new: bool = False
    locale: Locale | None = None
    client: Annotated[str, Field(max_length=64)] | None = None


class Image(BaseModel):
    """A picture that came with a message; ``data`` is base64."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    mime: Literal["image/png", "image/jpeg", "image/webp", "image/gif"]
    data: str


class Send(Request):
    """``context`` stays raw here: it is copied by allow-list, never refused (server.session.context)."""

    type: Literal["send"]
    text: str
    images: tuple[Image, ...] = Field(default=(), strict=False)
    context: Any = None


class Cancel(Request):
    type: Literal["cancel"]
    turn: int | None = None


class StatusRequest(Request):
    type: Literal["status"]


class ModelsList(Request):
    type: Literal["models.list"]
    provider: str


class ModelsSelect(Request):
    type: Literal["models.select"]
    role: Role
    provider: str
    model: str
    supports_vision: bool | None = None


class ProviderTest(Request):
    type: Literal["provider.test"]
    provider: str


class SettingsGet(Request):
    type: Literal["settings.get"]


class SettingsUpdate(Request):
    type: Literal["settings.update"]
    revision: str
    changes: dict[str, Any]


class ChatHistory(Request):
    type: Literal["chat.history"]
    limit: Annotated[int, Field(ge=1, le=1000)] = 200
    before: Id | None = None


class ChatClear(Request):
    type: Literal["chat.clear"]


class ContextUpdate(Request):
    type: Literal["context.update"]
    source: Annotated[str, Field(min_length=1, max_length=64)]
    text: Annotated[str, Field(max_length=2000)]
    ttl_s: Annotated[float, Field(gt=0, le=86400)] = 300


class ConsentAnswer(Request):
    type: Literal["consent.answer"]
    consent_id: Id
    answer: ConsentAnswerWord


class SayRequest(Request):
    type: Literal["say"]
    text: Annotated[str, Field(min_length=1)]
    expression: Expression | None = None


class AvatarTouch(Request):
    type: Literal["avatar.touch"]
    area: Annotated[str, Field(max_length=64)]


ClientFrame: TypeAlias = (
    Hello
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
    | AvatarTouch
)


# --- server to client -----------------------------------------------------------------------


class ServerMessage(BaseModel):
    """A frame to a client: an answer goes to one client and carries ``re``; the others belong to
    the session and carry ``seq``; the frame that is both carries both."""

    model_config = ConfigDict(extra="forbid")

    type: str
    seq: int | None = None
    re: str | None = None


class TurnFrame(ServerMessage):
    turn: int


class Capabilities(BaseModel):
    """What a provider's model can do; null = not known yet."""

    streaming_usage: bool | None = None
    system_role: bool | None = None
    vision: bool | None = None
    tools: bool | None = None
    reasoning_field: str | None = None
    json_schema: bool | None = None


class Limits(BaseModel):
    """What a client must keep to; sizes in bytes unless named otherwise."""

    max_frame_bytes: int
    max_text_chars: int
    max_images: int
    max_image_bytes: int
    turns_per_minute: int


class Command(BaseModel):
    name: str
    description: str


class Avatar(BaseModel):
    renderer: str
    model: str
    motions: dict[str, Any] = Field(default_factory=dict)
    expressions: dict[str, Any] = Field(default_factory=dict)


class Settings(BaseModel):
    """The public projection of lab.toml: dotted key to value; no key, prompt or path."""

    revision: str
    values: dict[str, Any]


class Usage(BaseModel):
    """Tokens."""

    prompt: int = 0
    completion: int = 0


class Timing(BaseModel):
    """Milliseconds."""

    first_delta_ms: int | None = None
    total_ms: int
    tool_ms: int = 0


class ChatMessage(BaseModel):
    id: str
    role: Literal["user", "assistant"]
    text: str
    at: str
    interrupted: bool = False
    images: int = 0
    origin: TurnOrigin = "user"
    error: ErrorCode | None = None


class RoleStatus(BaseModel):
    provider: str
    model: str
    capabilities: Capabilities
    context_tokens: int | None = None


class Welcome(ServerMessage):
    type: Literal["welcome"] = "welcome"
    protocol: Literal[1] = PROTOCOL_VERSION
    session: str
    role: ClientRole
    resumed: bool
    state: StateName
    detail: str | None = None
    guide: Guide | None = None
    settings: Settings | None = None
    avatar: Avatar
    commands: list[Command]
    limits: Limits
    version: str | None = None


class State(ServerMessage):
    type: Literal["state"] = "state"
    state: StateName
    detail: str | None = None
    guide: Guide | None = None


class TurnStart(TurnFrame):
    type: Literal["turn.start"] = "turn.start"
    message_id: str
    origin: TurnOrigin
    text: str | None = None


class TurnRoute(TurnFrame):
    type: Literal["turn.route"] = "turn.route"
    path: RoutePath
    reasons: list[str]


class ConsentRequest(TurnFrame):
    """The owner is asked; no answer in 30 s is a no."""

    type: Literal["consent.request"] = "consent.request"
    consent_id: str
    capability: Capability
    detail: str


class ToolStart(TurnFrame):
    type: Literal["tool.start"] = "tool.start"
    step: int
    call_id: str
    name: str


class ToolProgress(TurnFrame):
    type: Literal["tool.progress"] = "tool.progress"
    call_id: str
    done: float | None = None
    total: float | None = None
    note: str | None = None


class Thumbnail(BaseModel):
    """A small copy of a picture that a tool gave; ``data`` is base64."""

    mime: Literal["image/jpeg"] = "image/jpeg"
    data: str


class ToolEnd(TurnFrame):
    """``thumbnail`` is an addition to the design: the page shows each screenshot that was taken."""

    type: Literal["tool.end"] = "tool.end"
    step: int
    call_id: str
    name: str
    outcome: ToolOutcome
    ms: int
    error: str | None = None
    thumbnail: Thumbnail | None = None


class Vision(TurnFrame):
    """The vision model described ``images`` pictures for a text-only chat model."""

    type: Literal["vision"] = "vision"
    images: int
    outcome: ToolOutcome
    ms: int


class Waiting(TurnFrame):
    """One of the persona's waiting lines: no part of the reply or the history."""

    type: Literal["waiting"] = "waiting"
    text: str


class Reasoning(TurnFrame):
    type: Literal["reasoning"] = "reasoning"
    text: str


class Delta(TurnFrame):
    type: Literal["delta"] = "delta"
    text: str


class Sentence(TurnFrame):
    type: Literal["sentence"] = "sentence"
    index: int
    text: str


class MotionFrame(TurnFrame):
    type: Literal["motion"] = "motion"
    motion: Motion


class ExpressionFrame(TurnFrame):
    type: Literal["expression"] = "expression"
    expression: Expression
    hold_ms: int = EXPRESSION_HOLD_MS


class TurnDone(TurnFrame):
    type: Literal["turn.done"] = "turn.done"
    message_id: str
    text: str
    finish_reason: str
    usage: dict[Role, Usage]
    timing: Timing
    memories: list[str] = Field(default_factory=list)


class TurnError(TurnFrame):
    type: Literal["turn.error"] = "turn.error"
    code: ErrorCode
    message: str
    hint: str | None = None
    retryable: bool


class TurnCancelled(TurnFrame):
    type: Literal["turn.cancelled"] = "turn.cancelled"
    text: str


class Say(ServerMessage):
    type: Literal["say"] = "say"
    text: str
    expression: Expression | None = None
    source: str


class Notice(ServerMessage):
    type: Literal["notice"] = "notice"
    level: NoticeLevel
    code: str
    message: str


class Ping(ServerMessage):
    type: Literal["ping"] = "ping"


class Error(ServerMessage):
    type: Literal["error"] = "error"
    code: ErrorCode
    message: str
    retry_after_s: float | None = None


class Ok(ServerMessage):
    type: Literal["ok"] = "ok"


class Models(ServerMessage):
    type: Literal["models"] = "models"
    provider: str
    models: list[str]


class ProviderTested(ServerMessage):
    type: Literal["provider.tested"] = "provider.tested"
    provider: str
    ok: bool
    latency_ms: int | None = None
    code: ErrorCode | None = None
    message: str | None = None


class SettingsFrame(ServerMessage):
    type: Literal["settings"] = "settings"
    revision: str
    values: dict[str, Any]


class MemoryCounts(BaseModel):
    items: int = 0
    candidates: int = 0


class McpServerStatus(BaseModel):
    name: str
    state: str
    tools: int
    error: str | None = None


class ToolStatus(BaseModel):
    name: str
    enabled: bool


class StatusFrame(ServerMessage):
    type: Literal["status"] = "status"
    version: str
    state: StateName
    detail: str | None = None
    guide: Guide | None = None
    roles: dict[Role, RoleStatus]
    usage_today: dict[Role, Usage]
    memory: MemoryCounts
    mcp: list[McpServerStatus]
    tools: list[ToolStatus]
    workspace: str | None = None
    sessions: int


class Chat(ServerMessage):
    type: Literal["chat"] = "chat"
    messages: list[ChatMessage]


ServerFrame: TypeAlias = (
    Welcome
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
    | Chat
)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of all frames: ``$defs`` by name, plus ``ClientFrame`` and ``ServerFrame``."""
    client, server = get_args(ClientFrame), get_args(ServerFrame)
    _, schema = models_json_schema(
        [(model, "validation") for model in client] + [(model, "serialization") for model in server],
        ref_template="#/$defs/{model}",
    )
    defs = schema["$defs"]
    for name, members in (("ClientFrame", client), ("ServerFrame", server)):
        defs[name] = {"anyOf": [{"$ref": f"#/$defs/{member.__name__}"} for member in members]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": defs}


if __name__ == "__main__":
    print(json.dumps(json_schema(), indent=2, sort_keys=True))
