"""What the tests of the loop share: real tools written for them, and a job over a scripted provider."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from server.agent.images import ImageStore
from server.agent.loop import LoopJob, run_tools
from server.agent.tool_prompt import load_tool_router, tool_messages
from server.agent.trace import CallEnded, CallStarted, LoopEvent, LoopOutcome
from server.config.schema import ToolLoop, ToolOverride
from server.models.hub import ModelHub
from tests.fakes.openai_server import Reply, ScriptedProvider
from tools.contract import CallContext, Capability, PicturePart, Tool, ToolInfo, ToolResult

NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
DONE = Reply("done")

Work = Callable[[Mapping[str, Any], CallContext], Awaitable[ToolResult]]


@dataclass
class Made:
    """A tool made of a function; ``ran`` are the arguments of each call."""

    info: ToolInfo
    work: Work
    ran: list[Mapping[str, Any]] = field(default_factory=list)

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        self.ran.append(arguments)
        return await self.work(arguments, context)


def tool(name: str, work: Work | str = "fine", schema: Mapping[str, Any] | None = None, **more: Any) -> Made:
    """A tool; a text as its ``work`` is what it always answers."""
    if isinstance(work, str):
        text = work

        async def say(arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
            return ToolResult.text(text)

        work = say
    return Made(ToolInfo(name, f"The tool {name}.", schema or NOTHING, **more), work)


def takes(required: bool = True, **types: str) -> dict[str, Any]:
    """A schema whose properties have these types."""
    properties = {name: {"type": kind} for name, kind in types.items()}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": list(types)} if required else schema


class Shelf:
    """A registry of tools."""

    def __init__(self, *tools: Tool) -> None:
        self._tools = {tool.info.name: tool for tool in tools}

    def tools(self) -> list[ToolInfo]:
        return [tool.info for tool in self._tools.values()]

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)


@dataclass
class Turn:
    """The turn of a call: its owner answers with ``allows``."""

    turn: int = 1
    known_urls: frozenset[str] = frozenset()
    images: ImageStore = field(default_factory=ImageStore)
    ask: Callable[[], Awaitable[bool]] | None = None

    async def consent(self, capability: Capability, detail: str) -> bool:
        return await self.ask() if self.ask is not None else True

    def picture(self, ref: str) -> PicturePart | None:
        return self.images.part(ref)


class Workshop:
    """A hub that asks a scripted provider, and everything a job needs.

    Attributes:
        events: what the last loop emitted.
    """

    def __init__(self, hub: ModelHub, provider: ScriptedProvider) -> None:
        self.hub = hub
        self.provider = provider
        self.turn = Turn()
        self.events: list[LoopEvent] = []
        self.learned: list[tuple[str, Sequence[str]]] = []

    async def job(
        self,
        *tools: Tool,
        words: str = "Please help.",
        settings: Mapping[str, Any] | None = None,
        bounds: Mapping[str, ToolOverride] | None = None,
        capabilities: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> LoopJob:
        model = await self.hub.resolve("tool")
        known = {"tools": True, **(capabilities or {})}
        model = replace(model, capabilities=model.capabilities.model_copy(update=known))
        values: dict[str, Any] = {
            "model": model,
            "hub": self.hub,
            "registry": Shelf(*tools),
            "messages": tool_messages(words, router=load_tool_router(), state={}),
            "settings": ToolLoop(**{"timeout_s": 5, **(settings or {})}),
            "bounds": lambda name: (bounds or {}).get(name, ToolOverride()),
            "context": self.turn,
            "images": self.turn.images,
            "chat_context": 8192,
            "learn": lambda name, findings, pictures: self.learned.append((name, pictures)),
            "grace_s": 0.05,
            **more,
        }
        return LoopJob(**values)

    async def run(self, *tools: Tool, **more: Any) -> LoopOutcome:
        """Runs a loop to its end, within a deadline."""
        job = await self.job(*tools, **more)
        async with asyncio.timeout(20):
            return await run_tools(job, self.events.append)

    def sent(self, request: int = -1) -> list[dict[str, Any]]:
        """The messages of a request to the tool model."""
        return list(self.provider.requests[request].body["messages"])

    def results(self, request: int = -1) -> list[str]:
        """The contents of the tool messages of a request, in order."""
        return [message["content"] for message in self.sent(request) if message["role"] == "tool"]

    @property
    def ended(self) -> list[CallEnded]:
        return [event for event in self.events if isinstance(event, CallEnded)]

    @property
    def started(self) -> list[CallStarted]:
        return [event for event in self.events if isinstance(event, CallStarted)]


def call(name: str, arguments: Any = None, id: str | None = "auto", **unknown: Any) -> dict[str, Any]:
    """A call as a provider sends it; a dict as ``arguments`` becomes JSON."""
    written = json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, dict) else arguments
    made: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": written}}
    if id is not None:
        made["id"] = f"call_{next(_numbers)}" if id == "auto" else id
    return {**made, **unknown}


def calls(*given: dict[str, Any], text: str = "", **more: Any) -> Reply:
    """An answer that calls."""
    return Reply(text, tool_calls=list(given), **{"finish": "tool_calls", **more})


_numbers = iter(range(1, 1_000_000))
