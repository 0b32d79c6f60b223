"""Helpers: feed a text in any pieces, and join what comes out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Protocol, TypeVar

from hypothesis import strategies as st

Item = TypeVar("Item", covariant=True)


class Reader(Protocol[Item]):
    def feed(self, text: str) -> Sequence[Item]: ...
    def close(self) -> Sequence[Item]: ...


def read(reader: Reader[Item], pieces: Iterable[str]) -> list[Item]:
    """All that ``reader`` gives for ``pieces``."""
    items = [item for piece in pieces for item in reader.feed(piece)]
    return [*items, *reader.close()]


def pieces_of(text: str, cuts: Iterable[int]) -> list[str]:
    """``text`` cut at each place of ``cuts`` (taken modulo its length)."""
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[begin:end] for begin, end in pairwise(places)]


CUTS = st.lists(st.integers(min_value=0, max_value=10_000), max_size=30)
