"""What a client says about the user's surroundings: copied field by field, cut to length.

An allow-list: an unknown field and one of the wrong type are dropped in silence, so that a page can
never put more into the prompt than the protocol lets it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Context: TypeAlias = dict[str, dict[str, Any]]
_Copy: TypeAlias = Callable[[Any], Any]

MAX_NUMBER = 1_000_000_000
_KEPT = "\n\t\u200c\u200d"


def _text(length: int) -> _Copy:
    def copy(value: Any) -> str | None:
        if not isinstance(value, str):
            return None
        return clean(value)[:length].strip() or None

    return copy


def _number(value: Any) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if -MAX_NUMBER <= value <= MAX_NUMBER else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _list(count: int, item: _Copy) -> _Copy:
    def copy(value: Any) -> list[Any] | None:
        if not isinstance(value, list):
            return None
        return [kept for kept in map(item, value[:count]) if kept is not None] or None

    return copy


def _fields(allowed: Mapping[str, _Copy]) -> _Copy:
    def copy(value: Any) -> dict[str, Any] | None:
        if not isinstance(value, dict):
            return None
        kept = {name: take(value[name]) for name, take in allowed.items() if name in value}
        return {name: field for name, field in kept.items() if field is not None} or None

    return copy


_ALLOWED = _fields(
    {
        "page": _fields({"type": _text(40), "title": _text(200), "url": _text(500), "progress": _number}),
        "environment": _fields({"theme": _text(20), "local_time": _text(40), "device": _text(20)}),
        "media": _fields({"playing": _flag, "title": _text(200), "artist": _text(200)}),
        "article": _fields(
            {
                "title": _text(200),
                "tags": _list(10, _text(40)),
                "headings": _list(20, _text(120)),
                "excerpt": _text(600),
                "visible_excerpt": _text(1500),
            }
        ),
        "selection": _fields({"text": _text(2000), "before": _text(200), "after": _text(200)}),
        "editor": _fields(
            {
                "workspace": _text(200),
                "file": _text(300),
                "language": _text(40),
                "line": _number,
                "selection": _text(4000),
                "diagnostics": _list(
                    20, _fields({"severity": _text(40), "message": _text(300), "line": _number})
                ),
            }
        ),
        "ui": _fields({"panel": _text(40), "last_action": _text(80)}),
    }
)


def sanitise(raw: Any) -> Context:
    """The allowed part of a message's ``context``; empty for anything that is no object."""
    return _ALLOWED(raw) or {}


def clean(text: str) -> str:
    """``text`` from outside without control, invisible and lone surrogate characters.

    Joiners stay, since emoji and some scripts need them; line feed and tab stay too.
    """
    return _without(text, ("Cc", "Cf", "Cs"))


def storable(text: str) -> str:
    """The user's own ``text`` without what neither a database nor a provider takes: control
    characters and lone surrogates."""
    return _without(text, ("Cc", "Cs"))


def _without(text: str, categories: tuple[str, ...]) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isprintable():
        return text
    return "".join(char for char in text if char in _KEPT or unicodedata.category(char) not in categories)
