"""The one port: WebSocket connections at ``/ws``, the page and ``/healthz`` beside it.

Only bytes and addresses live here. What a frame means is :mod:`server.session.client`'s business,
who may come in is :mod:`server.gateway.door`'s.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from time import monotonic
from typing import Final, Protocol

from websockets.asyncio.connection import broadcast
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.protocol import State

from server.gateway.connection import Connection
from server.gateway.front import Front

log = logging.getLogger(__name__)

MAX_FRAME_BYTES: Final = 8 * 1024 * 1024
_HARD_LIMIT: Final = 4 * MAX_FRAME_BYTES
_UNREAD_BYTES: Final = 4 * 1024 * 1024
_MOST_UNREAD_BYTES: Final = 64 * 1024 * 1024
_SLOW_READER_S: Final = 10.0
_PING_EVERY_S: Final = 15.0
_HELLO_WITHIN_S: Final = 10.0
_TRY_AGAIN_LATER: Final = 1013
_PING: Final = '{"type":"ping"}'


class Guest(Protocol):
    """What talks on a connection (:class:`server.session.client.Client`)."""

    @property
    def greeted(self) -> bool: ...

    async def receive(self, raw: str | bytes) -> None: ...

    async def leave(self) -> None: ...

    def too_large(self, limit: int) -> None: ...


class Gateway:
    """Listens, lets in and passes frames on.

    Args:
        front: answers HTTP requests and guards the door.
        welcome: makes the guest for a new connection from how to send to it and its address.
    """

    def __init__(self, front: Front, welcome: Callable[[Callable[[str], None], str], Guest]) -> None:
        self._front = front
        self._welcome = welcome
        self._server: Server | None = None
        self._pinging: asyncio.Task[None] | None = None

    async def listen(self, host: str, port: int) -> int:
        """Opens the port and returns its number (``port`` 0 takes a free one).

        Raises:
            OSError: the address can't be listened on.
        """
        self._server = await serve(
            self._talk,
            host,
            port,
            create_connection=Connection,
            process_request=self._on_request,
            select_subprotocol=self._front.select_subprotocol,
            compression=None,
            max_size=_HARD_LIMIT,
            ping_interval=20,
            ping_timeout=20,
            close_timeout=1,
            server_header=None,
            logger=logging.getLogger("websockets.server"),
        )
        self._pinging = asyncio.create_task(self._ping())
        bound: int = self._server.sockets[0].getsockname()[1]
        self._front.opened(host, bound)
        return bound

    async def close(self) -> None:
        if self._pinging is not None:
            self._pinging.cancel()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    def _on_request(self, connection: ServerConnection, request: Request) -> Response | None:
        return self._front.answer(request, connection.remote_address)

    async def _talk(self, connection: ServerConnection) -> None:
        outlet = _Outlet(connection)
        assert connection.request is not None
        address = self._front.client_address(connection.request, connection.remote_address)
        guest = self._welcome(outlet.deliver, address)
        greeting = asyncio.get_running_loop().call_later(
            _HELLO_WITHIN_S, self._close_silent, connection, guest
        )
        try:
            async for raw in connection:
                if _size(raw) > MAX_FRAME_BYTES:
                    guest.too_large(MAX_FRAME_BYTES)
                else:
                    await guest.receive(raw)
        except ConnectionClosed:
            pass
        finally:
            greeting.cancel()
            await guest.leave()

    def _close_silent(self, connection: ServerConnection, guest: Guest) -> None:
        if not guest.greeted:
            log.info("a client said no hello within %d s", _HELLO_WITHIN_S)
            connection.transport.abort()

    async def _ping(self) -> None:
        while self._server is not None:
            await asyncio.sleep(_PING_EVERY_S)
            broadcast(self._server.connections, _PING)


class _Outlet:
    """Sends frames without waiting. A client that leaves too much unread for too long is cut off: it
    comes back and is told what it missed."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self._unread_since: float | None = None

    def deliver(self, text: str) -> None:
        if self._connection.state is not State.OPEN or self._connection.transport.is_closing():
            return
        if self._reads_too_slowly():
            log.info("a client reads too slowly and has to come back")
            self._connection.transport.abort()
            return
        broadcast((self._connection,), text)

    def _reads_too_slowly(self) -> bool:
        unread = self._connection.transport.get_write_buffer_size()
        if unread <= _UNREAD_BYTES:
            self._unread_since = None
            return False
        now = monotonic()
        if self._unread_since is None:
            self._unread_since = now
        return unread > _MOST_UNREAD_BYTES or now - self._unread_since > _SLOW_READER_S


def _size(raw: str | bytes) -> int:
    """Bytes on the wire; counted only where that can matter."""
    if isinstance(raw, bytes) or len(raw) > MAX_FRAME_BYTES or len(raw) * 4 <= MAX_FRAME_BYTES:
        return len(raw)
    return len(raw.encode())
