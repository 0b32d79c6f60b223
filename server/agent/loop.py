"""The tool loop of a turn: ask the tool model, run what it calls, give it the results, until it is done.

Invariants:
- It always ends: by the model calling nothing, by ``max_steps``, by equal calls, by the budget, or by a tool
  model that can't be reached. Whatever ends it, the chat model answers and is told (:class:`LoopOutcome`).
- Every failure is a result; only cancelling the task ends it by an exception, after all calls were stopped.
- Every call that the model sees in its history has exactly one result, in the order of the calls.
- There is one place that calls the model (:class:`server.agent.asker.Asker`), one that runs a tool
  (:class:`server.agent.desk.Desk`), one that converts a result (:func:`server.agent.results.convert`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from server.agent.asker import Asker, Hub
from server.agent.budget import allowance
from server.agent.calls import Answer
from server.agent.desk import GRACE_S, Desk, Rules, Tools, WebPlanner
from server.agent.results import Images
from server.agent.steps import Result, Step, fit
from server.agent.trace import LoopEvent, LoopOutcome, Stopped
from server.agent.work import TurnContext
from server.config.schema import ToolLoop, ToolOverride
from server.errors import PetError
from server.models.events import RoleModel
from tools.contract import Findings

log = logging.getLogger(__name__)

_MAX_OVERFLOWS: Final = 3


@dataclass(frozen=True, slots=True)
class LoopJob:
    """What one turn's loop is given.

    Attributes:
        messages: of the tool model before its first step (:func:`server.agent.tool_prompt.tool_messages`).
        bounds: what lab.toml says about one tool alone (``config.tools.bounds``).
        chat_context: the chat model's context, in tokens.
        web: plans the web calls of each step; None = they run like any other.
        learn: is told what each successful call found, in the order of the calls, before the next step.
        grace_s: how long a cancelled call may take to clean up.
    """

    model: RoleModel
    hub: Hub
    registry: Tools
    messages: Sequence[Mapping[str, Any]]
    settings: ToolLoop
    bounds: Callable[[str], ToolOverride]
    context: TurnContext
    images: Images
    chat_context: int
    web: WebPlanner | None = None
    learn: Callable[[str, Findings, Sequence[str]], None] | None = None
    grace_s: float = GRACE_S


async def run_tools(job: LoopJob, emit: Callable[[LoopEvent], None]) -> LoopOutcome:
    """Runs the loop; it raises nothing but its own cancellation, and that after every call was stopped."""
    tools = job.registry.tools()
    asker = Asker(job.hub, job.model, job.messages, tools, job.images)
    desk = Desk(
        job.registry, Rules(job.settings, job.bounds, job.grace_s), job.context, job.images, job.web, emit
    )
    steps: list[Step] = []
    stopped: Stopped = "max_steps" if tools else "no_tools"

    for number in range(1, job.settings.max_steps + 1 if tools else 0):
        answer = await _ask(job, asker, steps)
        if not isinstance(answer, Answer):
            stopped = answer
            break
        if not answer.calls:
            stopped = "answered"
            break
        results = await desk.run(number, answer.calls)
        steps.append(Step(answer, results, _learn(job, results)))
        if desk.goes_in_circles:
            stopped = "repeated"
            break

    return LoopOutcome(
        trace=[result.traced() for step in steps for result in step.results],
        stopped=stopped,
        usage=asker.usage,
        text=asker.text,
        tools_refused=asker.tools_refused,
        dropped=asker.dropped,
        cut_prompt=asker.cut_prompt,
    )


def _learn(job: LoopJob, results: Sequence[Result]) -> Sequence[str]:
    """Tells what the calls of a step found; the addresses that the next step may fetch."""
    for result in results:
        if result.outcome == "ok":
            if job.learn is not None:
                job.learn(result.call.name, result.findings, result.pictures)
            if job.web is not None:
                job.web.learn(result.call.name, result.findings)
    return tuple(job.web.candidates()) if job.web is not None else ()


async def _ask(job: LoopJob, asker: Asker, steps: Sequence[Step]) -> Answer | Stopped:
    """The model's next answer, asked with results that fit; or what keeps it from being had."""
    tokens = allowance(
        job.settings.max_trace_share, job.chat_context, job.model.context_tokens, asker.prompt_tokens
    )
    for _ in range(_MAX_OVERFLOWS):
        if not fit(steps, tokens):
            return "budget"
        try:
            return await asker.ask(steps)
        except PetError as error:
            if error.code != "context_overflow" or not steps:
                log.warning("the tool model can't be asked: %s", error)
                return "unreachable"
            tokens //= 2
        except Exception:
            log.exception("asking the tool model failed")
            return "unreachable"
    return "budget"
