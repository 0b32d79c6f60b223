"""Every key of lab.toml with its default. Pure data; :mod:`server.config.check` says what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from server.config.rules import PetMode
from server.config.table import Table, Texts
from server.config.values import (
    ApiKey,
    Ask,
    BaseUrl,
    Count,
    EnvName,
    FileName,
    HostAndPort,
    HostName,
    Line,
    ListenHost,
    Origin,
    Port,
    Positive,
    ProviderName,
    ProxyAddress,
    Seconds,
    ServerName,
    Share,
    Storage,
    Text,
    WebOrigin,
)
from server.protocol import Expression, Motion, Role

DEFAULT_PROVIDERS: Final[Mapping[str, Mapping[str, str]]] = {
    "ollama": {"base_url": "http://127.0.0.1:11434/v1"},
    "lmstudio": {"base_url": "http://127.0.0.1:1234/v1"},
    "builtin": {"gguf": ""},
    "openai": {"base_url": "https://api.openai.com/v1", "api_key": "env:OPENAI_API_KEY"},
}
"""Providers that are there without a word in the file; a table of the same name completes or changes them."""


def _with_default_providers(given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    merged: dict[Any, Any] = {name: dict(table) for name, table in DEFAULT_PROVIDERS.items()}
    for name, table in given.items():
        merged[name] = {**merged.get(name, {}), **table} if isinstance(table, dict) else table
    return merged


class Server(Table):
    host: ListenHost = "127.0.0.1"
    port: Port = 12393
    hosts: Annotated[tuple[HostName, ...], Texts] = ()
    allowed_origins: Annotated[tuple[Origin, ...], Texts] = ()
    require_token: bool = False
    trusted_proxies: Annotated[tuple[ProxyAddress, ...], Texts] = ()


class Provider(Table):
    """Connection data. With ``gguf`` the companion runs that model file itself ("" = the demo model)."""

    base_url: BaseUrl = ""
    api_key: ApiKey = ""
    api_format: Literal["chat_completions"] = "chat_completions"
    gguf: Line | None = None

    @property
    def builtin(self) -> bool:
        return self.gguf is not None


class Llm(Table):
    providers: Annotated[dict[ProviderName, Provider], BeforeValidator(_with_default_providers)] = Field(
        default_factory=dict, validate_default=True
    )


class ModelChoice(Table):
    """A role's provider and model; "" leaves it open. ``supports_vision`` None = probed."""

    provider: Line = ""
    model: Annotated[Line, Field(max_length=300)] = ""
    supports_vision: bool | None = None


class VisionChoice(ModelChoice):
    context: Literal["chat", "minimal"] = "chat"


class Models(Table):
    chat: ModelChoice = ModelChoice()
    tool: ModelChoice = ModelChoice()
    vision: VisionChoice = VisionChoice()

    def role(self, role: Role) -> ModelChoice:
        choices: dict[Role, ModelChoice] = {"chat": self.chat, "tool": self.tool, "vision": self.vision}
        return choices[role]


class Prompts(Table):
    """Text, or a file beside lab.toml (:func:`server.config.prompts.resolve_prompt`); None = what ships."""

    persona: Text | None = None
    tool_router: Text | None = None


class ToolLoop(Table):
    max_steps: Annotated[int, Field(ge=1, le=100)] = 6
    max_parallel: Annotated[int, Field(ge=1, le=64)] = 8
    timeout_s: Seconds = 8
    max_result_chars: Annotated[int, Field(ge=100, le=1_000_000)] = 12_000
    max_trace_share: Share = 0.5
    recent_messages: Annotated[int, Field(ge=8, le=15)] = 12


class Searxng(Table):
    url: BaseUrl = ""


class SearchService(Table):
    api_key: ApiKey = ""
    url: BaseUrl = ""


class Web(Table):
    search_provider: Literal["ddgs", "searxng", "tavily", "brave"] = "ddgs"
    max_searches: Annotated[int, Field(ge=0, le=50)] = 2
    max_fetches: Annotated[int, Field(ge=0, le=50)] = 4
    allow_private: Annotated[tuple[HostAndPort, ...], Texts] = ()
    searxng: Searxng = Searxng()
    tavily: SearchService = SearchService()
    brave: SearchService = SearchService()


class Agent(Table):
    enable_tools: bool = True
    enable_mcp: bool = True
    enable_vision: bool = True
    speculate: Literal["remote", "always", "never"] = "remote"
    models: Models = Models()
    prompts: Prompts = Prompts()
    tool_loop: ToolLoop = ToolLoop()
    web: Web = Web()


class ToolOverride(Table):
    """``[tools."tests__run"]``: bounds of one tool; None = those of ``[agent.tool_loop]``."""

    timeout_s: Seconds | None = None
    max_result_chars: Annotated[int, Field(ge=100, le=1_000_000)] | None = None


class Tools(Table):
    """The owner's switches; every other key is the name of a tool with bounds of its own."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, ToolOverride] = Field(init=False)

    screenshot: Ask = "ask"
    web: bool = True
    files: bool = True
    git: bool = True
    checks: Ask = True

    def bounds(self, tool: str) -> ToolOverride:
        """What was said about ``tool`` (``server__tool``) alone."""
        return (self.__pydantic_extra__ or {}).get(tool, ToolOverride())


class McpServer(Table):
    """A server: either started (``command``) or reached (``url``); ``allow`` None = all its tools."""

    command: Line | None = None
    args: Annotated[tuple[Text, ...], Texts] = ()
    url: BaseUrl | None = None
    env: dict[EnvName, Text] = Field(default_factory=dict)
    cwd: Line | None = None
    timeout_s: Seconds | None = None
    start_timeout_s: Seconds = 20
    allow: Annotated[tuple[Line, ...], Texts] | None = None
    deny: Annotated[tuple[Line, ...], Texts] = ()
    enabled: bool = True


class Mcp(Table):
    servers: dict[ServerName, McpServer] = Field(default_factory=dict)


class Chat(Table):
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] = 0.7
    max_recent_messages: Annotated[int, Field(ge=1, le=1000)] = 30
    context_tokens: Annotated[int, Field(ge=512, le=10_000_000)] = 8192


class Memory(Table):
    enabled: bool = True
    summary: Literal["rules", "model", "off"] = "rules"


class Workspace(Table):
    """What is watched; ``path`` "" = nothing. The commands are the owner's own words: no other runs."""

    path: Line = ""
    test_command: Annotated[tuple[Text, ...], Texts] = ()
    test_report: Line = ""
    lint_command: Annotated[tuple[Text, ...], Texts] = ()
    authors: Annotated[tuple[Line, ...], Texts] = ()


class Limits(Table):
    """``daily_tokens`` 0 = no cap; sizes in bytes."""

    turns_per_minute: Positive = 12
    turns_per_hour: Positive = 1200
    max_text_chars: Annotated[int, Field(ge=1, le=1_000_000)] = 8000
    max_images: Annotated[int, Field(ge=0, le=64)] = 4
    max_image_bytes: Annotated[int, Field(ge=0, le=6_000_000)] = 5_242_880
    daily_tokens: Count = 0
    storage: Storage = "memory"


class SiteLimits(Table):
    max_frame_bytes: Annotated[int, Field(ge=4096, le=1_048_576)] = 32_768
    max_text_chars: Annotated[int, Field(ge=1, le=10_000)] = 300
    max_history: Annotated[int, Field(ge=0, le=100)] = 12
    turns_per_minute: Positive = 12
    turns_per_hour: Positive = 1200
    daily_tokens: Count = 500_000


class SiteModels(Table):
    """The visitors' models; an open one is the owner's."""

    chat: ModelChoice = ModelChoice()
    tool: ModelChoice = ModelChoice()


class Site(Table):
    """The pet for visitors of a web site."""

    enabled: bool = False
    origins: Annotated[tuple[WebOrigin, ...], Texts] = ()
    name: Line = ""
    content_dir: Line = ""
    feed: Line = ""
    base_url: BaseUrl = ""
    limits: SiteLimits = SiteLimits()
    models: SiteModels = SiteModels()
    prompts: Prompts = Prompts()


class MotionTarget(Table):
    """A motion of the avatar's own model."""

    group: Line
    index: Annotated[int, Field(ge=0, le=10_000)] = 0


class Avatar(Table):
    renderer: Literal["auto", "puppet", "live2d", "sprite"] = "auto"
    model: FileName = ""
    motions: dict[Motion, MotionTarget] = Field(default_factory=dict)
    expressions: dict[Expression, Line] = Field(default_factory=dict)


class Config(Table):
    """The whole of lab.toml, valid."""

    server: Server = Server()
    llm: Llm = Llm()
    agent: Agent = Agent()
    tools: Tools = Tools()
    mcp: Mcp = Mcp()
    chat: Chat = Chat()
    memory: Memory = Memory()
    workspace: Workspace = Workspace()
    pet_mode: PetMode = PetMode()
    limits: Limits = Limits()
    site: Site = Site()
    avatar: Avatar = Avatar()
