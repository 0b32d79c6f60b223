"""Reads the lines of an event stream, cut anywhere. No I/O."""

from __future__ import annotations

_MAX_PENDING = 8 * 1024 * 1024


class EventLines:
    """Bytes in, payloads of ``data:`` out.

    A body that is no event stream at all (a whole JSON answer, although a stream was asked for) is
    collected and comes out of :meth:`close`.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._plain: list[bytes] = []
        self._seen_event = False

    def feed(self, block: bytes) -> list[bytes]:
        """The payloads that ``block`` completes.

        Raises:
            ValueError: a line has no end.
        """
        *lines, self._rest = (self._rest + block).split(b"\n")
        if len(self._rest) > _MAX_PENDING:
            raise ValueError("a line of the stream has no end")
        payloads: list[bytes] = []
        for line in lines:
            self._line(line.rstrip(b"\r"), payloads)
        return payloads

    def close(self) -> list[bytes]:
        """What the end of the stream leaves: an event without its blank line, or the plain body."""
        payloads = self.feed(b"\n\n")
        if not self._seen_event and not payloads and self._plain:
            payloads.append(b"\n".join(self._plain))
        return payloads

    def _line(self, line: bytes, payloads: list[bytes]) -> None:
        if line.startswith(b"data:"):
            self._data.append(line[6:] if line.startswith(b"data: ") else line[5:])
        elif not line:
            if self._data:
                payloads.append(b"\n".join(self._data) if len(self._data) > 1 else self._data[0])
                self._data.clear()
                self._seen_event = True
        elif not line.startswith((b":", b"event:", b"id:", b"retry:")) and not self._seen_event:
            if sum(map(len, self._plain)) > _MAX_PENDING:
                raise ValueError("the body has no end")
            self._plain.append(line)
