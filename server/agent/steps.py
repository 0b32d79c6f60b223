"""The steps of a running loop: what was asked for, what came of it. Plain values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from server.agent.budget import allot
from server.agent.calls import Answer, Call
from server.agent.plain_text import cut_to_tokens
from server.agent.trace import TraceEntry, split_name
from server.models.tokens import count_tokens
from server.protocol import ToolOutcome
from tools.contract import Findings


@dataclass(slots=True)
class Result:
    """What one call gave.

    Attributes:
        text: for the tool model.
        kept: what is left of ``text`` in its history.
        error: what went wrong, short, for the page and the trace.
    """

    call: Call
    step: int
    outcome: ToolOutcome
    text: str
    ms: int = 0
    error: str | None = None
    pictures: Sequence[str] = ()
    findings: Findings = field(default_factory=Findings)
    kept: str = ""
    size: int = 0

    def __post_init__(self) -> None:
        self.kept = self.text
        self.size = count_tokens(self.text)

    def traced(self) -> TraceEntry:
        server, name = split_name(self.call.name)
        return TraceEntry(
            server=server,
            name=name,
            args=self.call.arguments,
            raw_result=self.text if self.outcome == "ok" else "",
            outcome=self.outcome,
            ms=self.ms,
            step=self.step,
            call_id=self.call.call_id,
            error=self.error,
            pictures=self.pictures,
            findings=self.findings,
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the tool model and the results of its calls, in their order.

    Attributes:
        candidates: addresses that the next step may fetch.
    """

    answer: Answer
    results: Sequence[Result]
    candidates: Sequence[str] = ()


def fit(steps: Sequence[Step], tokens: int) -> bool:
    """Shortens results in the history, never calls, until they have at most ``tokens`` together; False where
    that would leave too little of them."""
    results = [result for step in steps for result in step.results]
    if not results:
        return True
    kept = allot([result.size for result in results], tokens, newest=len(steps[-1].results))
    if kept is None:
        return False
    for result, size in zip(results, kept, strict=True):
        result.kept = result.text if size >= result.size else cut_to_tokens(result.text, size)
    return True


def signature(call: Call) -> tuple[str, str]:
    """Equal for equal calls: name and arguments, whatever their order and spacing."""
    if call.problem is not None:
        return call.name, call.sent
    return call.name, json.dumps(call.arguments, sort_keys=True, default=str, separators=(",", ":"))
