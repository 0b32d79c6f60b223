"""Where everything stands in a TOML text: the lines that problems name, the spans that edits replace.

:func:`scan` walks a text that :mod:`tomllib` has accepted; it checks nothing itself.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

Path = tuple[str | int, ...]
"""Keys and list indices, from the root."""

_BLANK: Final = " \t\r\n"
_DEEPEST: Final = 16


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and its value, as offsets; ``inline`` when it stands in an inline table or an array."""

    path: Path
    start: int
    value_start: int
    value_end: int
    section: int
    inline: bool


@dataclass(frozen=True, slots=True)
class Section:
    """A table header and what follows it; the first one has no header and starts the file."""

    path: Path
    start: int
    end: int
    array: bool = False


@dataclass
class Layout:
    """The whole text in order of appearance; ``comments`` are spans from ``#`` to the end of the line.

    It is complete before its lines are asked for.
    """

    text: str
    entries: list[Entry] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    comments: list[tuple[int, int]] = field(default_factory=list)

    def line(self, path: Sequence[str | int]) -> int | None:
        """The line (from 1) of ``path``, or of the nearest thing around it that stands in the text."""
        for length in range(min(len(path), _DEEPEST), 0, -1):
            offset = self._places.get(tuple(path[:length]))
            if offset is not None:
                return bisect_left(self._breaks, offset) + 1
        return None

    @cached_property
    def _places(self) -> dict[Path, int]:
        """Where each path first stands; no deeper than any key of lab.toml goes."""
        places: dict[Path, int] = {}
        for section in self.sections[1:]:
            for length in range(1, min(len(section.path), _DEEPEST) + 1):
                places.setdefault(section.path[:length], section.start)
        for entry in self.entries:
            base = len(self.sections[entry.section].path)
            for length in range(base + 1, min(len(entry.path), _DEEPEST) + 1):
                places.setdefault(entry.path[:length], entry.start)
        return places

    @cached_property
    def _breaks(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self.text)]


def scan(text: str) -> Layout:
    return _Scanner(text).run()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.layout = Layout(text, sections=[Section((), 0, 0)])
        self.arrays: dict[Path, int] = {}

    def run(self) -> Layout:
        while True:
            self.skip()
            if self.at >= len(self.text):
                return self.layout
            if self.text[self.at] == "[":
                self.header()
            else:
                self.pair(self.layout.sections[-1].path, inline=False)

    def skip(self, chars: str = _BLANK) -> None:
        """Over blanks and, where lines may break, comments."""
        while self.at < len(self.text):
            if self.text[self.at] in chars:
                self.at += 1
            elif self.text[self.at] == "#" and "\n" in chars:
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                end -= self.text[end - 1] == "\r"
                self.layout.comments.append((self.at, end))
                self.at = end
            else:
                return

    def header(self) -> None:
        start = self.at
        array = self.text.startswith("[[", self.at)
        self.at += 2 if array else 1
        keys = self.keys("]")
        self.at += 2 if array else 1
        path: Path = ()
        for key in keys[:-1]:
            path = self.inside((*path, key))
        path = (*path, keys[-1])
        if array:
            self.arrays[path] = self.arrays.get(path, -1) + 1
            path = self.inside(path)
        self.layout.sections.append(Section(path, start, self.at, array))

    def inside(self, path: Path) -> Path:
        """An array of tables means its last element."""
        return (*path, self.arrays[path]) if path in self.arrays else path

    def keys(self, stop: str) -> list[str]:
        """A dotted key up to ``stop``, which is not passed."""
        keys: list[str] = []
        while True:
            self.skip(" \t")
            start = self.at
            if self.text[self.at] in "\"'":
                self.string()
                keys.append(_unquote(self.text[start : self.at]))
            else:
                while self.text[self.at] not in f". \t{stop}":
                    self.at += 1
                keys.append(self.text[start : self.at])
            self.skip(" \t")
            if self.text[self.at] == stop:
                return keys
            self.at += 1

    def pair(self, base: Path, *, inline: bool) -> None:
        start = self.at
        path = (*base, *self.keys("="))
        self.at += 1
        self.skip(" \t")
        self.value(path, start, inline=inline)

    def value(self, path: Path, start: int, *, inline: bool) -> None:
        value_start = self.at
        position = len(self.layout.entries)
        char = self.text[self.at]
        if char in "\"'":
            self.string()
        elif char in "[{":
            self.collection(path, "]" if char == "[" else "}")
        else:
            while self.at < len(self.text) and self.text[self.at] not in ",]}#\n":
                self.at += 1
            self.at -= len(self.text[value_start : self.at]) - len(self.text[value_start : self.at].rstrip())
        section = len(self.layout.sections) - 1
        self.layout.entries.insert(position, Entry(path, start, value_start, self.at, section, inline))

    def collection(self, path: Path, close: str) -> None:
        self.at += 1
        index = 0
        while True:
            self.skip()
            char = self.text[self.at]
            if char == close:
                self.at += 1
                return
            if char == ",":
                self.at += 1
            elif close == "}":
                self.pair(path, inline=True)
            else:
                self.value((*path, index), self.at, inline=True)
                index += 1

    def string(self) -> None:
        quote = self.text[self.at]
        fence = quote * 3 if self.text.startswith(quote * 3, self.at) else quote
        self.at += len(fence)
        while not self.text.startswith(fence, self.at):
            self.at += 2 if self.text[self.at] == "\\" and quote == '"' else 1
        self.at += len(fence)
        if len(fence) == 3:  # up to two more quotes belong to the text itself
            for _ in range(2):
                self.at += self.text.startswith(quote, self.at)


def _unquote(key: str) -> str:
    value = tomllib.loads(f"key = {key}")["key"]
    return str(value)
