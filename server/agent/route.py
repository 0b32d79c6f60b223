"""How a turn is answered: fast, with tools, or both at once because the rules can't tell.

Decided by local rules alone, never by a model call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from server.agent.phrases import any_of, table
from server.agent.references import Reference
from server.agent.requests import ends_of, outside_requests
from server.agent.small_talk import small_talk
from server.protocol import RoutePath

TOOLS_OFF: Final = "tools are off"
UNSURE: Final = "the rules can't tell"
IN_SELECTION: Final = "answer is in the selected text"
IN_DIAGNOSTICS: Final = "answer is in the editor's diagnostics"
IN_MEDIA: Final = "answer is in the media state"
EARLIER: Final = "refers to an earlier {kind}"
AGAIN: Final = "asks for the last tool again"

_PLAYING: Final = "asks what is playing"
_BARE_CHARS: Final = 48


@dataclass(frozen=True, slots=True)
class Route:
    """Attributes:
    reasons: short English phrases that name the rules; stable, so that they can be counted.
    """

    path: RoutePath
    reasons: list[str]


def route(
    text: str,
    context: Mapping[str, Mapping[str, Any]],
    tools_available: bool,
    *,
    refs: Sequence[Reference] = (),
    last_tool: str | None = None,
) -> Route:
    """Decides how the turn for ``text`` is answered.

    Args:
        context: what came with the message, sanitised (:func:`server.session.context.sanitise`).
        tools_available: whether any tool may be called in this turn.
        refs: the references in ``text`` that were resolved (:func:`server.agent.references.resolve`).
        last_tool: the tool that gave a result last.
    """
    if not tools_available:
        return Route("fast", [TOOLS_OFF])
    if talk := small_talk(text):
        return Route("fast", [talk])
    outside = outside_requests(text)
    if answered := _in_context(text, context, outside):
        return Route("fast", [answered])
    reasons = [*outside, *dict.fromkeys(EARLIER.format(kind=ref.kind.replace("_", " ")) for ref in refs)]
    if last_tool is not None and _phrases().again.fullmatch(text.strip()):
        reasons.append(AGAIN)
    return Route("tool", reasons) if reasons else Route("both", [UNSURE])


# --- the answer came with the message -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Phrases:
    again: re.Pattern[str]
    selected: re.Pattern[str]
    bare_task: re.Pattern[str]
    diagnosed: re.Pattern[str]
    more_than_media: re.Pattern[str]


@cache
def _phrases() -> _Phrases:
    tables = table("in_context")
    tasks = [
        pattern.replace("<zh_task>", tables["zh_task"]).replace("<en_task>", tables["en_task"])
        for pattern in tables["bare_task"]
    ]
    return _Phrases(
        again=any_of(tables["again"]),
        selected=any_of(tables["selected"]),
        bare_task=any_of(tasks),
        diagnosed=any_of(tables["diagnosed"]),
        more_than_media=any_of(tables["more_than_media"]),
    )


def _in_context(text: str, context: Mapping[str, Mapping[str, Any]], outside: Sequence[str]) -> str | None:
    """The part of ``context`` that holds the answer; None where it takes more than that."""
    media = context.get("media", {})
    if outside == [_PLAYING] and _named(media) and not _phrases().more_than_media.search(text):
        return IN_MEDIA
    if outside:
        return None
    asked = ends_of(text)
    editor = context.get("editor", {})
    selected = context.get("selection", {}).get("text") or editor.get("selection")
    if selected and (_phrases().selected.search(asked) or _is_bare_task(asked)):
        return IN_SELECTION
    if editor.get("diagnostics") and _phrases().diagnosed.search(asked):
        return IN_DIAGNOSTICS
    return None


def _named(media: Mapping[str, Any]) -> bool:
    return bool(media.get("title") or media.get("artist") or media.get("playing") is False)


def _is_bare_task(text: str) -> bool:
    stripped = text.strip()
    return len(stripped) <= _BARE_CHARS and _phrases().bare_task.fullmatch(stripped) is not None
