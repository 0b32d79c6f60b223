"""Whether a text has anything that could be seen. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

_LOOKS_EMPTY: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Fillers and blanks that Unicode counts among letters, marks and symbols."""


def is_blank(text: Iterable[str]) -> bool:
    """Whether the characters of ``text`` are only white space, control characters and what has no shape of
    its own (zero-width characters, lone variation selectors, fillers)."""
    return all(map(_unseen, text))


def _unseen(char: str) -> bool:
    if char.isspace() or not char.isprintable() or char in _LOOKS_EMPTY:
        return True
    return unicodedata.category(char) == "Mn" and "VARIATION SELECTOR" in unicodedata.name(char, "")
