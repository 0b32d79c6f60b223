"""Runs the calls of a step, all at the same time, each to a result of its own: nothing that one call does, or
fails to do, reaches another or the loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final, Literal, Protocol

from server.agent.calls import Call
from server.agent.hints import NO_MORE_RETRIES, hint_for
from server.agent.plain_text import fit_error
from server.agent.results import Images, convert
from server.agent.steps import Result, signature
from server.agent.trace import CallEnded, CallProgress, CallStarted, LoopEvent
from server.agent.validate import coerce, find_problem
from server.agent.work import Overtime, Stopped, TurnContext, run_tool
from server.config.schema import ToolLoop, ToolOverride
from server.protocol import ToolOutcome
from tools.contract import Findings, Tool, ToolFailure, ToolInfo

log = logging.getLogger(__name__)

MAX_CALLS: Final = 64
NUDGE_AT: Final = 3
END_AT: Final = 5
GRACE_S: Final = 2.0
WEB_TOOLS: Final = frozenset({"tool__web_search", "tool__web_fetch"})


class Decision(Protocol):
    """What is to become of one web call."""

    @property
    def verdict(self) -> Literal["run", "deferred", "refused"]: ...

    @property
    def reason(self) -> str: ...


class WebPlanner(Protocol):
    """Plans the web calls of each step (:class:`server.agent.web_machine.WebMachine`)."""

    def plan(self, calls: Sequence[Call]) -> Sequence[Decision]: ...

    def learn(self, name: str, findings: Findings) -> None:
        """Takes in what a call that succeeded has found."""

    def candidates(self) -> Sequence[str]:
        """Addresses that the next step is told."""


class Tools(Protocol):
    """The tools that may be called now (:class:`tools.registry.Registry`)."""

    def tools(self) -> Sequence[ToolInfo]: ...

    def get(self, name: str) -> Tool | None: ...


@dataclass(frozen=True, slots=True)
class Rules:
    """How calls are run.

    Attributes:
        bounds: what lab.toml says about one tool alone.
        grace_s: how long a cancelled call may take to clean up.
    """

    settings: ToolLoop
    bounds: Callable[[str], ToolOverride]
    grace_s: float = GRACE_S


@dataclass(frozen=True, slots=True)
class _Ready:
    """A call that can run: its tool is there and its arguments fit."""

    call: Call
    tool: Tool
    info: ToolInfo


class Desk:
    """One turn's calls.

    Attributes:
        goes_in_circles: the same call came once too often.
    """

    def __init__(
        self,
        registry: Tools,
        rules: Rules,
        turn: TurnContext,
        images: Images,
        web: WebPlanner | None,
        emit: Callable[[LoopEvent], None],
    ) -> None:
        self.goes_in_circles = False
        self._registry = registry
        self._tools = {tool.name: tool for tool in registry.tools()}
        self._rules = rules
        self._turn = turn
        self._images = images
        self._web = web
        self._emit = emit
        self._slots = asyncio.Semaphore(rules.settings.max_parallel)
        self._seen: Counter[tuple[str, str]] = Counter()
        self._failed_in: dict[str, int] = {}
        self._not_allowed: set[str] = set()

    async def run(self, step: int, calls: Sequence[Call]) -> list[Result]:
        """The results of ``calls``, in their order. Cancelling stops them all and awaits their clean-up."""
        self._seen.update({signature(call) for call in calls})
        self.goes_in_circles = any(self._seen[signature(call)] >= END_AT for call in calls)
        checked = [self._check(step, place, call) for place, call in enumerate(calls)]
        planned = self._plan(step, checked)
        async with asyncio.TaskGroup() as group:
            running = [
                group.create_task(self._run(step, item)) if isinstance(item, _Ready) else item
                for item in planned
            ]
            for item in planned:
                if isinstance(item, Result):
                    self._emit(CallStarted(step, item.call.call_id, item.call.name))
                    self._ended(item)
        return [item if isinstance(item, Result) else item.result() for item in running]

    # --- before a call ----------------------------------------------------------------------

    def _check(self, step: int, place: int, call: Call) -> _Ready | Result:
        """Whether a call can run; if not, its answer."""
        if place >= MAX_CALLS:
            text = (
                f"Too many calls in one step: only {MAX_CALLS} are run. Call it in the next step if need be."
            )
            return Result(call, step, "deferred", text, error="too many calls in one step")
        if call.problem is not None:
            return self._failed(step, call, call.problem)
        info, tool = self._tools.get(call.name), self._registry.get(call.name)
        if info is None or tool is None:
            names = ", ".join(sorted(self._tools))
            return self._failed(step, call, f"{call.name} does not exist. The tools are: {names}")
        if (times := self._seen[signature(call)]) >= NUDGE_AT:
            text = (
                f"This is the same call again, {times} times now. It was not run again: its result is above. "
                "Use what is there, call something else, or stop."
            )
            return Result(call, step, "error", text, error=f"the same call again, number {times}")
        if call.name in self._not_allowed:
            text = "Its owner did not allow it in this turn. Don't call it again."
            return Result(call, step, "denied", text, error="not allowed")
        arguments = coerce(info.input_schema, call.arguments)
        if (problem := find_problem(call.name, info.input_schema, arguments)) is not None:
            return self._failed(step, call, f"the arguments don't fit: {problem}", hint=hint_for(info))
        return _Ready(replace(call, arguments=arguments), tool, info)

    def _plan(self, step: int, checked: Sequence[_Ready | Result]) -> list[_Ready | Result]:
        """Lets the web machine decide about the step's web calls."""
        planned = list(checked)
        places = [
            place
            for place, item in enumerate(planned)
            if isinstance(item, _Ready) and item.call.name in WEB_TOOLS
        ]
        if self._web is None or not places:
            return planned
        decisions = self._web.plan([planned[place].call for place in places])
        for place, decision in zip(places, decisions, strict=True):
            call = planned[place].call
            if decision.verdict == "deferred":
                planned[place] = Result(
                    call, step, "deferred", f"Deferred: {decision.reason}", error=decision.reason
                )
            elif decision.verdict == "refused":
                planned[place] = Result(
                    call, step, "error", f"Not run: {decision.reason}", error=decision.reason
                )
        return planned

    # --- a call -----------------------------------------------------------------------------

    async def _run(self, step: int, ready: _Ready) -> Result:
        """Runs a call; whatever goes wrong is its result."""
        call = ready.call
        async with self._slots:
            self._emit(CallStarted(step, call.call_id, call.name))
            began = monotonic()
            try:
                result = await self._attempt(step, ready)
            except asyncio.CancelledError:
                self._ended(
                    Result(call, step, "cancelled", "", ms=_ms_since(began), error="the turn was stopped")
                )
                raise
            result.ms = _ms_since(began)
            self._ended(result)
            return result

    async def _attempt(self, step: int, ready: _Ready) -> Result:
        call, info, settings = ready.call, ready.info, self._rules.settings
        own = self._rules.bounds(call.name)
        timeout_s = own.timeout_s or info.timeout_s or settings.timeout_s
        max_chars = own.max_result_chars or info.max_result_chars or settings.max_result_chars

        def progress(done: float | None, total: float | None, note: str | None) -> None:
            self._emit(CallProgress(call.call_id, done, total, fit_error(note) if note else None))

        try:
            given = await run_tool(
                ready.tool,
                call.arguments,
                self._turn,
                progress,
                timeout_s=timeout_s,
                grace_s=self._rules.grace_s,
            )
            async with asyncio.timeout(timeout_s):
                converted = await convert(info, given, self._images, max_chars)
        except (Overtime, TimeoutError):
            problem = f"no result within {timeout_s:g} s"
            return self._failed(step, call, problem, outcome="timeout", hint=hint_for(info))
        except Stopped:
            return self._failed(
                step, call, "the call was cancelled", outcome="cancelled", hint=hint_for(info)
            )
        except ToolFailure as failure:
            return self._tool_failed(step, ready, failure)
        except Exception as error:
            log.exception("the tool %s is broken", call.name)
            problem = f"the tool is broken ({type(error).__name__})"
            return self._failed(step, call, problem, hint=hint_for(info))
        if converted.problem is not None:
            return self._failed(step, call, converted.problem, hint=hint_for(info), got=converted.text)
        return Result(call, step, "ok", converted.text, pictures=converted.pictures, findings=given.findings)

    def _tool_failed(self, step: int, ready: _Ready, failure: ToolFailure) -> Result:
        told = fit_error(str(failure)) or "it failed"
        if not failure.denied:
            return self._failed(step, ready.call, told, hint=hint_for(ready.info))
        self._not_allowed.add(ready.call.name)
        # Models take "denied" for something to be tried again.
        text = f"Its owner did not allow it: {told.replace('denied', 'not allowed')}. Don't call it again."
        return Result(ready.call, step, "denied", text, error=told)

    def _failed(
        self,
        step: int,
        call: Call,
        problem: str,
        *,
        outcome: ToolOutcome = "error",
        hint: str = "",
        got: str = "",
    ) -> Result:
        """The answer to a call that failed: what was wrong, what was sent, once, and what may help. A tool is
        tried again once a turn."""
        first = self._failed_in.setdefault(call.name, step)
        advice = hint if step == first else NO_MORE_RETRIES
        lines = [f"Failed: {problem}", f"Sent: {call.sent}", f"Got: {got}" if got else "", advice]
        text = "\n".join(line for line in lines if line)
        return Result(call, step, outcome, text, error=fit_error(problem))

    def _ended(self, result: Result) -> None:
        call = result.call
        self._emit(
            CallEnded(
                result.step,
                call.call_id,
                call.name,
                result.outcome,
                result.ms,
                result.error,
                result.pictures,
            )
        )


def _ms_since(began: float) -> int:
    return round((monotonic() - began) * 1000)
