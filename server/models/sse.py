"""Reads the lines of an event stream, cut anywhere. No I/O."""

from __future__ import annotations

import json

_MAX_PENDING = 8 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_DONE = b"[DONE]"


class EventLines:
    """Bytes in, payloads of ``data:`` out; a line ends with LF, CR or both.

    An event ends at a blank line. Some servers leave that out: data that is whole by itself doesn't
    wait for it when more data follows.

    A body that is no event stream at all (a whole JSON answer, although a stream was asked for) is
    collected and comes out of :meth:`close`.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0
        self._plain: list[bytes] = []
        self._seen_event = False
        self._began = False
        self._after_cr = False

    def feed(self, block: bytes) -> list[bytes]:
        """The payloads that ``block`` completes.

        Raises:
            ValueError: a line or an event has no end.
        """
        *lines, self._rest = (self._rest + self._with_plain_ends(block)).split(b"\n")
        if len(self._rest) > _MAX_PENDING:
            raise ValueError("a line of the stream has no end")
        payloads: list[bytes] = []
        for line in lines:
            if not self._began:
                self._began, line = True, line.removeprefix(_BOM)
            self._line(line, payloads)
        return payloads

    def close(self) -> list[bytes]:
        """What the end of the stream leaves: an event without its blank line, or the plain body."""
        payloads = self.feed(b"\n\n")
        if not self._seen_event and not payloads and self._plain:
            payloads.append(b"\n".join(self._plain))
        return payloads

    def _with_plain_ends(self, block: bytes) -> bytes:
        """``block`` with LF at the end of each line. A CR counts at once, wherever its LF may be."""
        if self._after_cr and block:
            block = block.removeprefix(b"\n")
            self._after_cr = False
        if b"\r" not in block:
            return block
        self._after_cr = block.endswith(b"\r")
        return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _line(self, line: bytes, payloads: list[bytes]) -> None:
        if line.startswith(b"data:"):
            if len(self._data) == 1 and _is_whole(self._data[0]):
                self._end_event(payloads)
            self._data.append(line[6:] if line.startswith(b"data: ") else line[5:])
            self._size += len(line)
            if self._size > _MAX_PENDING:
                raise ValueError("an event has no end")
            if self._data[0].startswith(_DONE):
                self._end_event(payloads)
        elif not line:
            self._end_event(payloads)
        elif not line.startswith((b":", b"event:", b"id:", b"retry:")) and not self._seen_event:
            if sum(map(len, self._plain)) > _MAX_PENDING:
                raise ValueError("the body has no end")
            self._plain.append(line)

    def _end_event(self, payloads: list[bytes]) -> None:
        if self._data:
            payloads.append(b"\n".join(self._data) if len(self._data) > 1 else self._data[0])
            self._data.clear()
            self._size = 0
            self._seen_event = True


def _is_whole(line: bytes) -> bool:
    """Whether ``line`` is a JSON object, to which nothing can be added."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
