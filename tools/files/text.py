"""Lines of a text file, whatever its encoding and size: only the wanted ones are ever in memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO, Final

CHUNK: Final = 256 * 1024
SAMPLE: Final = 64 * 1024
MAX_LINE: Final = 2000
COUNTED_BYTES: Final = 64 * 1024 * 1024
"""Behind the wanted lines, so much is read on to tell how many lines there are in all."""

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COMMON_CHINESE: Final = re.compile(rb"[\xa1-\xa3\xb0-\xd7][\xa1-\xfe]")
_FEW: Final = 400
_GUESSED: Final = ["gb18030", "big5", "shift_jis", "euc_kr", "cp1252", "cp1251"]


class NoText(ValueError):
    """The file holds no text."""


@dataclass(slots=True)
class Excerpt:
    """Lines of a file.

    Attributes:
        lines: without their ends, each cut at ``MAX_LINE`` characters.
        first: number of the first one; lines count from 1.
        total: how many lines the file has, or has at least where ``whole`` is false.
        more: whether lines of the wanted range are missing because there was no room for them.
    """

    first: int
    encoding: str
    lines: list[str] = field(default_factory=list)
    total: int = 0
    whole: bool = True
    more: bool = False

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1


def read_lines(
    file: BinaryIO, first: int, last: int | None, max_chars: int, stop: Callable[[], bool] = lambda: False
) -> Excerpt:
    """Lines ``first`` to ``last`` (None: to the end) of a file opened at its start.

    Args:
        max_chars: of all lines together; the first one is always given, cut.
        stop: asked now and then whether anybody still waits.

    Raises:
        NoText: it is binary.
    """
    sample = file.read(SAMPLE)
    encoding = encoding_of(sample)
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    reader = _Lines(Excerpt(first, encoding), last, max_chars)
    chunk, behind = sample, 0
    while chunk and not stop():
        reader.feed(decoder.decode(chunk))
        if reader.satisfied:
            behind += len(chunk)
            if behind > COUNTED_BYTES:
                reader.excerpt.whole = False
                break
        chunk = file.read(CHUNK)
    reader.feed(decoder.decode(b"", final=True))
    reader.close()
    return reader.excerpt


def encoding_of(sample: bytes) -> str:
    """The encoding of a file that begins with ``sample``.

    Raises:
        NoText: it is binary.
    """
    for mark, name in _BOMS:
        if sample.startswith(mark):
            return name
    if b"\0" in sample:
        raise NoText("that file holds no text")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return _guess(sample)
    return "utf-8"


def _guess(sample: bytes) -> str:
    whole_lines = sample[: sample.rfind(b"\n") + 1] or sample  # no character cut in half
    if _reads_as_short_chinese(whole_lines):
        return "gb18030"
    from charset_normalizer import from_bytes

    best = from_bytes(whole_lines, cp_isolation=_GUESSED).best()
    return best.encoding if best is not None else "utf-8"


def _reads_as_short_chinese(data: bytes) -> bool:
    """Whether it is common characters of GB 2312 throughout, and too little for statistics to tell."""
    high = sum(byte >= 0x80 for byte in data[:4096])
    return high < _FEW and 2 * len(_COMMON_CHINESE.findall(data)) >= 0.9 * high


class _Lines:
    """Takes text in pieces and keeps the wanted lines."""

    def __init__(self, excerpt: Excerpt, last: int | None, max_chars: int) -> None:
        self.excerpt = excerpt
        self._last = last
        self._room = max_chars
        self._line = ""  # the beginning of the line that goes on in the next piece
        self._dropped = 0  # characters of it that were too many
        self._ended = 0  # lines that have ended
        self._open = False  # whether a line has begun since

    @property
    def satisfied(self) -> bool:
        """Whether no more lines are wanted."""
        past = self._last is not None and self._ended >= self._last
        return past or self.excerpt.more

    def feed(self, text: str) -> None:
        if not text:
            return
        if self.satisfied or self._ended + text.count("\n") < self.excerpt.first - 1:
            self._skip(text)
            return
        *ended, rest = text.split("\n")
        for piece in ended:
            self._extend(piece)
            self._end()
        self._extend(rest)
        self._open = bool(rest)

    def close(self) -> None:
        if self._open:
            self._end()
        self.excerpt.total = self._ended

    def _skip(self, text: str) -> None:
        self._ended += text.count("\n")
        self._line, self._dropped = "", 0
        self._open = not text.endswith("\n")

    def _extend(self, piece: str) -> None:
        room = max(0, MAX_LINE - len(self._line))
        self._line += piece[:room]
        self._dropped += max(0, len(piece) - room)

    def _end(self) -> None:
        self._ended += 1
        excerpt = self.excerpt
        wanted = excerpt.first <= self._ended and (self._last is None or self._ended <= self._last)
        if wanted and not excerpt.more:
            line = self._line.removesuffix("\r") + (f" … [{self._dropped} more]" if self._dropped else "")
            if excerpt.lines and len(line) + 1 > self._room:
                excerpt.more = True
            else:
                excerpt.lines.append(line)
                self._room -= len(line) + 1
        self._line, self._dropped = "", 0
