"""The project's own messages for the dependence scorer (``data/dependence``), in two halves.

A ``*_chat.txt`` or ``*_code.txt`` line is a pair: a message that needs its context, ``|``, and the same made
self-contained. A ``*_single.txt`` line is one message behind ``+`` (needs its context) or ``-`` (doesn't).
Which half a line belongs to is decided by its text, so that new lines move no old one.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / "data" / "dependence"
_CODE: Final = ROOT / "server" / "agent"
_SEEN_BY: Final = ("addresses.py", "dependence/features.py", "dependence/words.py", "dependence/words.toml")


@dataclass(frozen=True, slots=True)
class Example:
    """A message; ``subject`` is the name of its file: ``zh_chat``, ``en_code``, ``zh_single``…

    Attributes:
        group: the same for both messages of a pair.
        held_out: training never sees it.
    """

    text: str
    dependent: bool
    subject: str
    group: str
    held_out: bool


def examples(folder: Path = FOLDER) -> list[Example]:
    """All messages, in the order of the files.

    Raises:
        ValueError: a line that isn't of the form above.
    """
    return [
        example
        for file in sorted(folder.glob("*.txt"))
        for line in file.read_text(encoding="utf-8").splitlines()
        for example in _read(line, file.stem)
    ]


def _read(line: str, subject: str) -> Iterator[Example]:
    first, _, rest = line.partition(" " if subject.endswith("_single") else "|")
    if not rest or "|" in rest:
        raise ValueError(f"{subject}: {line!r} is neither a pair nor a single message")
    held_out = zlib.crc32(line.encode()) % 2 == 1
    if subject.endswith("_single"):
        yield Example(rest, first == "+", subject, line, held_out)
    else:
        yield Example(first, True, subject, line, held_out)
        yield Example(rest, False, subject, line, held_out)


def fingerprint() -> str:
    """A hash of everything that the weights are made from."""
    digest = hashlib.sha256()
    for path in (*sorted(FOLDER.glob("*.txt")), *(_CODE / name for name in _SEEN_BY)):
        digest.update(path.name.encode())
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def area_under_curve(scored: list[tuple[float, bool]]) -> float:
    """How often a dependent message ranks above another; ties count half."""
    ranked = sorted(scored)
    positives = sum(1 for _, dependent in ranked if dependent)
    total, begin = 0.0, 0
    while begin < len(ranked):
        end = begin
        while end < len(ranked) and ranked[end][0] == ranked[begin][0]:
            end += 1
        rank = (begin + 1 + end) / 2
        total += rank * sum(1 for _, dependent in ranked[begin:end] if dependent)
        begin = end
    negatives = len(ranked) - positives
    return (total - positives * (positives + 1) / 2) / (positives * negatives)


def rates(judged: list[tuple[bool, bool]]) -> tuple[float, float]:
    """Recall and false alarms of (verdict, truth)."""
    caught = [verdict for verdict, dependent in judged if dependent]
    alarms = [verdict for verdict, dependent in judged if not dependent]
    return sum(caught) / len(caught), sum(alarms) / len(alarms)
