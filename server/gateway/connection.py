"""One request a connection, whatever a client sends behind it or with it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from websockets.asyncio.server import ServerConnection

_LONGEST_LINE: Final = 8192
_BODY_FIELDS: Final = (b"content-length:", b"transfer-encoding:")


class FirstHead:
    """Takes the head of the first request out of a stream, cut anywhere. No I/O.

    Fields that announce a body are left out: none is read here, and the library answers no request
    that has one.

    Attributes:
        complete: the head's last line has come.
    """

    def __init__(self) -> None:
        self.complete = False
        self._line = b""

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """What of ``data`` belongs to the head, and what comes behind it."""
        data, at = self._line + data, 0
        head = bytearray()
        while (end := data.find(b"\n", at) + 1) > 0:
            line, at = data[at:end], end
            if not line[:20].lower().startswith(_BODY_FIELDS):
                head += line
            if line in (b"\r\n", b"\n"):
                self.complete = True
                return bytes(head), data[at:]
        self._line = data[at:]
        if len(self._line) > _LONGEST_LINE:  # refused by whoever reads it
            head += self._line
            self._line = b""
        return bytes(head), b""


class Connection(ServerConnection):
    """Keeps from the library what comes before its answer.

    The library would read a second request, a body or an early frame as frames of a connection that
    isn't open yet, and fail without an answer.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head = FirstHead()
        self._early = b""
        self._open = False

    def data_received(self, data: bytes) -> None:
        if self._open:
            super().data_received(data)
            return
        if self._head.complete:
            rest = data
        else:
            head, rest = self._head.feed(data)
            if head:
                super().data_received(head)
        if self._may_open():
            self._early += rest

    async def handshake(self, *arguments: Any, **options: Any) -> None:
        await super().handshake(*arguments, **options)
        if self._may_open():
            self._open = True
            super().data_received(self._early)
        self._early = b""

    def _may_open(self) -> bool:
        """Whether the request can be read, and has not been answered as a plain one."""
        switching = self.response is None or self.response.status_code == HTTPStatus.SWITCHING_PROTOCOLS
        return self.request is not None and switching
