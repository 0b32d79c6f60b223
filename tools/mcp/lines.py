"""Messages of a stdio server, cut out of its stream of bytes; what is too long is dropped as it arrives."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_KEPT: Final = 300
_ID: Final = rb'"id"\s*:\s*(?:(\d{1,18})|"([^"\\]{1,100})")'
_AT_THE_START = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID)
_AT_THE_END = re.compile(_ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z')


@dataclass(frozen=True, slots=True)
class TooLong:
    """A message longer than allowed: its first and last bytes."""

    head: bytes
    tail: bytes

    def answers(self) -> int | str | None:
        """The id of the request that it answers, where both ends show it."""
        found = _AT_THE_START.match(self.head) or _AT_THE_END.search(self.tail)
        if found is None:
            return None
        number, name = found.groups()
        return int(number) if number is not None else str(name, "utf-8", "replace")


class LineSplitter:
    """Lines of at most ``max_bytes``; memory is bounded by that, whatever arrives."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._line = bytearray()
        self._head = b""

    def feed(self, chunk: bytes) -> list[bytes | TooLong]:
        """The lines that ``chunk`` completes, without their ends."""
        *complete, rest = chunk.split(b"\n")
        lines = []
        for part in complete:
            self._take(part)
            lines.append(self._finish())
        self._take(rest)
        return lines

    def _take(self, part: bytes) -> None:
        self._line += part
        if self._head:
            del self._line[:-_KEPT]
        elif len(self._line) > self._max_bytes:
            self._head = bytes(self._line[:_KEPT])
            del self._line[:-_KEPT]

    def _finish(self) -> bytes | TooLong:
        line, head = bytes(self._line), self._head
        self._line, self._head = bytearray(), b""
        return TooLong(head, line) if head else line
