"""The ``[Tool Call Summary]`` of the composed message: what the tools gave, and what stopped them. Pure.

What tools gave is content from outside: quoted line by line and headed as untrusted. What the server itself
knows (which calls failed, what ended the loop) stands outside the quotes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from server.agent.budget import squeeze
from server.agent.compose import UNTRUSTED, quote
from server.agent.plain_text import cut, cut_to_tokens, fit_error, fit_for_model
from server.agent.trace import LoopOutcome, Stopped, TraceEntry
from server.models.tokens import count_tokens
from server.protocol import ToolOutcome

_MAX_ARGUMENTS: Final = 300

_STOPPED: Final[Mapping[Stopped, str]] = MappingProxyType(
    {
        "max_steps": "The tools were stopped because the most steps of one turn were used up; something may "
        "be missing. Say what is missing, if it matters.",
        "repeated": "The tools were stopped because the same call was repeated again and again. Say plainly "
        "what could not be found out.",
        "budget": "The tools were stopped because their results filled the room that there is for them; "
        "something may be missing. Say what is missing, if it matters.",
        "unreachable": "The model that calls the tools could not be reached: tools were unavailable{later}. "
        "If the answer needs them, say so plainly; don't make anything up.",
    }
)
_WENT: Final[Mapping[ToolOutcome, str]] = MappingProxyType(
    {
        "ok": "done",
        "error": "failed",
        "timeout": "failed: no result in time",
        "deferred": "not run",
        "denied": "not allowed by its owner",
        "cancelled": "cancelled",
    }
)


def summarise(outcome: LoopOutcome, max_tokens: int) -> str:
    """The section's body; "" where no tool was called and nothing needs to be said.

    Args:
        max_tokens: for all results together.
    """
    parts: list[str] = []
    if outcome.stopped in _STOPPED:
        later = " from then on" if outcome.trace else ""
        parts.append(_STOPPED[outcome.stopped].format(later=later))
    if outcome.trace:
        if any(entry.outcome != "ok" for entry in outcome.trace):
            parts.append("Some calls gave nothing, as marked below: don't pretend that they did.")
        parts.append(UNTRUSTED)
        texts = [fit_for_model(entry.raw_result, len(entry.raw_result)) for entry in outcome.trace]
        kept = squeeze([count_tokens(text) for text in texts], max_tokens)
        for number, (entry, text, tokens) in enumerate(zip(outcome.trace, texts, kept, strict=True), 1):
            parts.append(_told(number, entry, cut_to_tokens(text, tokens)))
    return "\n\n".join(parts)


def _told(number: int, entry: TraceEntry, text: str) -> str:
    lines = [f"{number}. {' '.join(entry.full_name.split())}: {_WENT[entry.outcome]}"]
    if entry.args:
        written = json.dumps(entry.args, ensure_ascii=False, default=str)
        lines.append(
            quote("arguments: " + cut(" ".join(fit_for_model(written, 4000).split()), _MAX_ARGUMENTS))
        )
    if entry.error and entry.outcome != "ok":
        lines.append(quote("error: " + " ".join(fit_error(entry.error).split())))
    if text:
        lines.append(quote(text))
    return "\n".join(lines)
