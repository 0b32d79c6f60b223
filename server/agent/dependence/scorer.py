"""The score and the verdict."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from server.agent.dependence.features import SPEAKS_AGAINST, Seen, see
from server.agent.dependence.model import shipped
from server.agent.requests import outside_requests
from server.agent.small_talk import small_talk

ANSWER: Final = 4.0
COMPLETE: Final = -1.5
NOTHING: Final = -8.0
ADDRESS: Final = -2.0
_REPLY_SIZE: Final = 8
_REQUEST_SIZE: Final = 24
_ASKS: Final = ("?", "？", "吗", "呢")
_REMARKS: Final = frozenset(("small talk", "thanks"))
_OF_ANYTHING: Final = re.compile(
    r"(?i)冷|热|爽|舒服|轻松|想哭|\b(?:cold|hot|great|good|bad|hard|tough|boring|fun)\b"
)
_OWN_SUBJECT: Final = frozenset(("speaks of you or me", "greeting"))
_POINTS_BACK: Final = frozenset(
    (
        *("pronoun", "refers back", "choice or index", "asks for more of it", "asks to do it over"),
        *("begins with a connective", "confirmation or reply"),
    )
)
# What these rules find is asked of this moment and this machine, and needs no word before it.
_STANDING: Final = frozenset(
    (
        "asks for the screen",
        "asks for the tests",
        "asks for lint or a build",
        "asks for dice or chance",
        "asks about the repository",
        "asks how the work goes",
    )
)
_CLOCK: Final = "asks for the time or date"
_OF_NOW: Final = re.compile(
    r"(?i)现在|今天|明天|昨天|今年|几点[了钟]|\b(?:time is it|the time|the date|what (?:day|year))\b"
)


@dataclass(frozen=True, slots=True)
class Dependence:
    """Attributes:
    dependent: whether the message needs what came before.
    score: ranks messages, from the text alone; 0 is the border, larger is more dependent.
    reasons: the features that spoke for the verdict, by name.
    """

    dependent: bool
    score: float
    reasons: list[str]


def dependence(text: str, history: Sequence[str] | None = None) -> Dependence:
    """Judges ``text``.

    Args:
        history: the messages before it, oldest first. They don't change the score; where the last one
            asks something, a few words are taken for the answer to it.
    """
    seen = see(text)
    score = _value(seen) - shipped().threshold
    complete = _complete(text, seen) if score >= 0 else None
    score = round(COMPLETE if complete else score, 3)
    if score >= 0:
        return Dependence(True, score, _for(seen) or ["wording"])
    if history and _answers(seen, history[-1]):
        return Dependence(True, score, ["answers a question"])
    return Dependence(False, score, [complete] if complete else _against(seen))


def _value(seen: Seen) -> float:
    """The value before the border is drawn."""
    if not seen.size:
        return NOTHING
    value = shipped().value(seen.features)
    if "explicit address" in seen.signals:
        value += ADDRESS
    elif "asks to do it over" in seen.signals:
        value = max(value, ANSWER)
    return max(value, ANSWER) if seen.answer else value


def _complete(text: str, seen: Seen) -> str | None:
    """Why the message is complete in itself, short as it may be; None where no rule says so."""
    signals = set(seen.signals)
    kind = small_talk(text)
    if kind and not ("names nothing" in signals and not _OWN_SUBJECT & signals and _is_remark(kind, text)):
        return kind
    if seen.lone_name:
        return "a name alone"
    if seen.size <= _REQUEST_SIZE and not _POINTS_BACK & signals:
        for rule in outside_requests(text):
            if rule in _STANDING and "pointing word" not in signals:
                return rule
            if rule == _CLOCK and _OF_NOW.search(text):
                return rule
    return None


def _is_remark(kind: str, text: str) -> bool:
    """Whether it may be said of anything that was spoken of: 很冷 may, 很累 isn't."""
    return kind in _REMARKS or (kind == "feelings" and _OF_ANYTHING.search(text) is not None)


def _answers(seen: Seen, last: str) -> bool:
    return 0 < seen.size <= _REPLY_SIZE and last.rstrip().endswith(_ASKS)


def _for(seen: Seen) -> list[str]:
    reasons = [signal for signal in seen.signals if signal not in SPEAKS_AGAINST]
    return ["an answer and nothing else", *reasons] if seen.answer else reasons


def _against(seen: Seen) -> list[str]:
    if not seen.size:
        return ["nothing said"]
    against = [signal for signal in seen.signals if signal in SPEAKS_AGAINST]
    return against or ["names what it speaks about"]
