"""Talk that asks for nothing from outside: greetings, thanks, feelings, who the companion is, play.

A message is small talk when each of its clauses is. The patterns lie in ``phrases/small_talk.toml``.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from server.agent.phrases import table

MAX_CHARS: Final = 120
_FEELING_CHARS: Final = 60
_CLAUSES: Final = re.compile(r"[，。！？；、,.!?;:：~～…\n\r\t()（）“”\"]+|(?<=[\u4e00-\u9fff])[ \u3000]+")
_EMOJI: Final = re.compile(r"[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d]+|:[)(DPp]|\^_?\^")
_ENDINGS: Final = "[吗么啊呀哦噢嘛啦呢吧哈哇喔呐咯嘞鸭诶欸]*"
_EXPRESSES: Final = re.compile(
    r"(?i)心情|我.{0,20}(?:难过|伤心|委屈|失恋|分手|孤独|焦虑|想哭|崩溃|压力|难受|烦死|累死|气死|开心|高兴)"
    r"|\bi feel |\bi'?m (?:so |really )?(?:sad|happy|tired|lonely|depressed|upset|stressed)\b"
    r"|\bmy feelings\b|heartbroken|break ?up|cheated on me"
)
_ASKS: Final = re.compile(
    r"(?i)[?？]|吗|怎么|什么|如何|哪|谁|多少|几|帮我|请你?|能不能"
    r"|\b(?:how|what|why|when|where|who|which|can|could|would|please|show|find|help|write|run|open|check)\b"
)


def small_talk(text: str) -> str | None:
    """What kind of small talk ``text`` is, or None where any of it may be more."""
    if len(text) > MAX_CHARS:
        return None
    clauses = [clause for part in _CLAUSES.split(_EMOJI.sub(" ", text)) if (clause := part.strip())]
    if not clauses:
        return "nothing said"
    kinds = [_kind(clause.replace("’", "'")) for clause in clauses]
    if all(kinds):
        # "Hi, I'm tired": what comes after the greeting says more.
        return next((kind for kind in kinds if kind not in ("greeting", "thanks")), kinds[0])
    if len(text) <= _FEELING_CHARS and _EXPRESSES.search(text) and not _ASKS.search(text):
        return "feelings"
    return None


def _kind(clause: str) -> str | None:
    return next((name for name, pattern in _kinds().items() if pattern.fullmatch(clause)), None)


@cache
def _kinds() -> dict[str, re.Pattern[str]]:
    tables = table("small_talk")
    parts: dict[str, str] = tables["parts"]
    return {
        name: re.compile(f"(?i)(?:{_filled('|'.join(patterns), parts)}){_ENDINGS}")
        for name, patterns in tables["kinds"].items()
    }


def _filled(pattern: str, parts: dict[str, str]) -> str:
    return re.sub(r"<(\w+)>", lambda match: parts[match[1]], pattern)
