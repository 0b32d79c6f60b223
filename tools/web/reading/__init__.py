"""Pages become text. What parses other people's HTML and PDF runs in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MAX_TEXT: Final = 200_000
MAX_LINKS: Final = 50
MAX_TITLE: Final = 300


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a page.

    Attributes:
        text: of at most :data:`MAX_TEXT` characters.
        links: text and normalised address of the page's links, those of its main part first.
        cut: whether the page goes on.
    """

    title: str
    text: str
    links: Sequence[tuple[str, str]] = ()
    cut: bool = False


class Unreadable(Exception):
    """A page that can't be read; the message says why, as the end of "The page of example.com …"."""
