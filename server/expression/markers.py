"""Turns hidden markers in a reply into cues for the character.

A marker is ``[[motion:NAME]]`` or ``[[expression:NAME]]`` with a NAME of 1 to 32 small letters and
dashes. One whose NAME isn't allowed vanishes; anything else is text, and so is a marker inside code
(:mod:`server.expression.code`). The output is the same however the stream is cut.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from server.expression.code import CodeAware, Found, beginnings
from server.protocol import EXPRESSIONS, MOTIONS

_MARKER: Final = r"\[\[(?:motion|expression):[a-z-]{1,32}\]\]"
_BEGINNING: Final = beginnings("[[motion:x", "[[expression:x") + r"|\[\[(?:motion|expression):[a-z-]{1,32}\]?"
_LONGEST: Final = len("[[expression:]]") + 32


@dataclass(frozen=True, slots=True)
class MotionCue:
    name: str


@dataclass(frozen=True, slots=True)
class ExpressionCue:
    name: str


Expressed: TypeAlias = str | MotionCue | ExpressionCue

MODEL_MOTIONS: Final = frozenset(MOTIONS) - {"talk"}
"""What a model may ask for: ``talk`` is the server's own, sent once with the first text."""


class MarkerParser:
    """Reads a reply piece by piece; gives its visible text and its cues in their order."""

    def __init__(
        self, motions: Iterable[str] = MODEL_MOTIONS, expressions: Iterable[str] = EXPRESSIONS
    ) -> None:
        self._cues: dict[str, Expressed] = {
            **{f"[[motion:{name}]]": MotionCue(name) for name in motions},
            **{f"[[expression:{name}]]": ExpressionCue(name) for name in expressions},
        }
        self._code = CodeAware("[", _MARKER, _BEGINNING, _LONGEST)

    def feed(self, text: str) -> list[Expressed]:
        return self._express(self._code.scan(text))

    def close(self) -> list[Expressed]:
        """The reply is over: the rest, without the beginning of a marker at its very end."""
        return self._express(self._code.scan("", final=True))

    def _express(self, found: list[Found]) -> list[Expressed]:
        expressed: list[Expressed] = []
        for item in found:
            if isinstance(item, str):
                expressed.append(item)
            elif cue := self._cues.get(item[0]):
                expressed.append(cue)
        return expressed
