"""Whole characters from a stream: halves of a surrogate pair are joined across pieces, lone ones replaced.

A provider that cuts its JSON between the halves of an emoji sends each as an escape of its own; neither
half can be stored or sent on.
"""

from __future__ import annotations

import re
from typing import Final

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_HIGH: Final = re.compile("[\ud800-\udbff]\\Z")
_REPLACEMENT: Final = "\ufffd"


class PairJoiner:
    """One stream's."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        """``text`` in whole characters; a first half at its end waits for the next piece."""
        if not self._half and _SURROGATE.search(text) is None:
            return text
        text = self._half + text
        self._half = ""
        if _HIGH.search(text):
            text, self._half = text[:-1], text[-1]
        return whole(text)

    def close(self) -> str:
        """What stands for a first half that never got its second."""
        half, self._half = self._half, ""
        return _REPLACEMENT if half else ""


def whole(text: str) -> str:
    """``text`` with pairs joined and lone halves replaced."""
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
