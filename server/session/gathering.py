"""What a turn finds out before the chat model answers: the way it takes, and the tool loop on it.

With ``both``, the answer begins unseen beside the tool model's first look. If that calls nothing, the
answer goes on as if the turn had been fast; if it calls a tool, the answer is dropped before a word of
it was shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from server.agent.compose import surroundings
from server.agent.dependence import dependence
from server.agent.loop import LoopJob, run_tools
from server.agent.prompt import Exchange
from server.agent.references import Reference
from server.agent.route import route
from server.agent.tool_prompt import load_tool_router, tool_messages
from server.agent.trace import CallStarted, LoopEvent, LoopOutcome
from server.agent.web_machine import WebMachine
from server.config.schema import Agent, Tools
from server.errors import PetError
from server.models.events import RoleModel
from server.models.hub import ModelHub
from server.protocol import RoutePath, Usage
from server.session.metering import Metered
from server.session.speculation import Speculation
from server.session.toolwork import ToolWork
from server.session.usage import UsageLedger
from server.session.workbench import Workbench
from tools.contract import Findings
from tools.registry import Registry


@dataclass(frozen=True, slots=True)
class Question:
    """A message as the router and the tool model see it.

    Attributes:
        context: what came with it, sanitised.
        before: the chat before it, oldest first.
        pictures: references of the pictures that came with it.
        references: what its words refer to.
    """

    words: str
    context: Mapping[str, Any]
    before: Sequence[Exchange]
    pictures: Sequence[str]
    references: Sequence[Reference]


@dataclass(frozen=True, slots=True)
class Way:
    """How a turn will be answered; without a tool model where none can be asked."""

    path: RoutePath
    reasons: list[str]
    tool_model: RoleModel | None = None


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was found out.

    Attributes:
        loop: how the tool loop ended; None where none ran or it found nothing to do.
        begun: the answer that has begun unseen and may be shown.
        wasted: what an answer cost that was begun and dropped.
        ms: how long the tools took.
    """

    loop: LoopOutcome | None = None
    begun: Speculation | None = None
    wasted: Usage = field(default_factory=Usage)
    ms: int = 0


@dataclass(frozen=True, slots=True)
class GatherServices:
    """What gathering needs of the session.

    Attributes:
        router: the owner's own prompt for the tool model, or None.
    """

    hub: ModelHub
    registry: Registry
    bench: Workbench
    usage: UsageLedger
    agent: Agent
    tools: Tools
    router: str | None = None


async def find_way(
    question: Question, services: GatherServices, chat: RoleModel, *, pictures_unseen: bool
) -> Way:
    """Decides by rules alone how the turn is answered.

    Args:
        pictures_unseen: whether the chat model can't see pictures, so that they are described first.
    """
    available = bool(services.registry.tools())
    found = route(
        question.words,
        question.context,
        available,
        refs=question.references,
        last_tool=services.bench.state.last_tool,
    )
    reasons = list(found.reasons)
    if found.path == "fast":
        return Way("fast", reasons)
    try:
        tool_model = await services.hub.resolve("tool")
    except PetError:
        return Way("tool", [*reasons, "the tool model can't be asked"])
    if found.path == "both" and tool_model.demo:
        return Way("fast", [*reasons, "the demonstration model is too small to be asked in doubt"])
    described_first = pictures_unseen and bool(question.pictures)
    may_begin = _may_speculate(services.agent.speculate, chat, tool_model) and not described_first
    if found.path == "both" and not may_begin:
        return Way("tool", [*reasons, "no answer is begun beside the tool model here"], tool_model)
    return Way(found.path, reasons, tool_model)


async def gather(
    way: Way,
    question: Question,
    services: GatherServices,
    work: ToolWork,
    chat_context: int,
    begin: Callable[[], Speculation],
) -> Gathered:
    """Runs the tool loop where the way leads there.

    Args:
        chat_context: the chat model's context, in tokens.
        begin: begins the answer of a fast turn, unseen.
    """
    if way.path == "fast":
        return Gathered()
    if way.tool_model is None:
        return Gathered(LoopOutcome(trace=(), stopped="unreachable", usage=Usage()))
    bet = _Bet(begin() if way.path == "both" else None)

    def on_event(event: LoopEvent) -> None:
        if isinstance(event, CallStarted):
            bet.lose()
        work.tell(event)

    started = monotonic()
    try:
        job = _job(way.tool_model, question, services, work, chat_context)
        loop = await run_tools(job, on_event)
        if loop.stopped != "answered":
            bet.lose()
    except BaseException:
        bet.lose()
        raise
    finally:
        wasted = await bet.settle()
        if wasted != Usage():
            await services.usage.add("chat", wasted)
    ms = round((monotonic() - started) * 1000) if loop.trace else 0
    return Gathered(loop, bet.begun, wasted, ms)


class _Bet:
    """An answer begun on the chance that no tool is called."""

    def __init__(self, begun: Speculation | None) -> None:
        self.begun = begun
        self._dropping: asyncio.Task[Usage] | None = None

    def lose(self) -> None:
        """Drops the answer; its request ends in the background."""
        if self.begun is not None:
            self._dropping = asyncio.create_task(self.begun.discard())
            self.begun = None

    async def settle(self) -> Usage:
        """What a dropped answer cost."""
        return await self._dropping if self._dropping is not None else Usage()


def _may_speculate(setting: str, chat: RoleModel, tool: RoleModel) -> bool:
    """One local machine runs one model at a time: a second stream would only slow the first."""
    if setting == "remote":
        return not (chat.local and tool.local)
    return setting == "always"


def _job(
    model: RoleModel, question: Question, services: GatherServices, work: ToolWork, chat_context: int
) -> LoopJob:
    settings = services.agent.tool_loop
    state = services.bench.state
    dependent = dependence(question.words).dependent
    messages = tool_messages(
        question.words,
        router=load_tool_router(services.router),
        state=state.pinned(),
        recent=question.before[-settings.recent_messages :] if dependent else (),
        resolved_refs=[reference.as_json() for reference in question.references],
        pictures=question.pictures,
        notes=surroundings(question.context),
    )
    limits, bench = services.agent.web, services.bench
    web = WebMachine(limits.max_searches, limits.max_fetches, known=lambda: bench.known_urls)

    def learn(name: str, findings: Findings, pictures: Sequence[str]) -> None:
        bench.learned(name, findings, pictures)
        web.learn(name, findings)

    return LoopJob(
        model=model,
        hub=Metered(services.hub, "tool", services.usage),
        registry=services.registry,
        messages=messages,
        settings=settings,
        bounds=services.tools.bounds,
        context=work,
        images=bench.images,
        chat_context=chat_context,
        web=web,
        learn=learn,
    )
