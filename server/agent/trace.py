"""What a turn's tool loop did: plain values for the composed message, the page and the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from server.protocol import ToolOutcome, Usage
from tools.contract import SEPARATOR, Findings

Stopped: TypeAlias = Literal["answered", "max_steps", "repeated", "budget", "unreachable", "no_tools"]
"""Why the loop ended: the tool model called nothing more (``answered``), or what stopped it."""


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """One call and what became of it.

    Attributes:
        server, name: the two halves of ``server__tool``; ``server`` is "" where the name has none.
        args: as they were run; empty where they couldn't be read.
        raw_result: the text that the tool model got, masked and capped; "" where the call gave nothing.
        ms: how long it took.
        error: what went wrong, short, fit for the page.
        pictures: references in the image store.
    """

    server: str
    name: str
    args: Mapping[str, Any]
    raw_result: str
    outcome: ToolOutcome
    ms: int
    step: int
    call_id: str
    error: str | None = None
    pictures: Sequence[str] = ()
    findings: Findings = field(default_factory=Findings)

    @property
    def full_name(self) -> str:
        return f"{self.server}{SEPARATOR}{self.name}" if self.server else self.name


@dataclass(frozen=True, slots=True)
class LoopOutcome:
    """How the loop ended; whatever ended it, the chat model answers.

    Attributes:
        trace: all calls, in the order in which they were asked for.
        usage: of all requests to the tool model together.
        text: what the tool model said last; never shown.
        tools_refused: in this turn it was found out that the tool model takes no tools.
        dropped: tools that the tool model's provider refuses because of their schema.
        cut_prompt: tokens read and sent, where the tool model's provider cut a prompt silently.
    """

    trace: Sequence[TraceEntry]
    stopped: Stopped
    usage: Usage
    text: str = ""
    tools_refused: bool = False
    dropped: Sequence[str] = ()
    cut_prompt: tuple[int, int] | None = None

    @property
    def pictures(self) -> list[str]:
        """The references of all pictures that the calls gave, in order."""
        return [ref for entry in self.trace for ref in entry.pictures]


@dataclass(frozen=True, slots=True)
class CallStarted:
    step: int
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallProgress:
    call_id: str
    done: float | None
    total: float | None
    note: str | None


@dataclass(frozen=True, slots=True)
class CallEnded:
    step: int
    call_id: str
    name: str
    outcome: ToolOutcome
    ms: int
    error: str | None
    pictures: Sequence[str]


LoopEvent: TypeAlias = CallStarted | CallProgress | CallEnded


def split_name(name: str) -> tuple[str, str]:
    """``server__tool`` in two halves."""
    server, found, tool = name.partition(SEPARATOR)
    return (server, tool) if found else ("", name)
