"""The streamable HTTP transport: the library's own, with bounds, and without a proxy to this very machine."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import httpx2
from mcp.client.streamable_http import streamable_http_client

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

MAX_MESSAGE_BYTES: Final = 16 * 1024 * 1024
_MEGABYTE: Final = 1024 * 1024
_TIMEOUT: Final = httpx2.Timeout(10, read=None)


class HttpTransport:
    """A transport for :class:`mcp.Client`; ``async with`` gives its two streams.

    Attributes:
        status: the last HTTP status that was an error.
    """

    def __init__(self, url: str) -> None:
        self.status: int | None = None
        self._url = url
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> TransportStreams:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(
                httpx2.AsyncClient(
                    timeout=_TIMEOUT,
                    trust_env=not is_loopback(self._url),
                    event_hooks={"response": [self._look_at]},
                )
            )
            streams = await stack.enter_async_context(
                streamable_http_client(self._url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES)
            )
            self._stack = stack.pop_all()
        return streams

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return await self._stack.__aexit__(exc_type, exc, traceback)

    async def _look_at(self, response: httpx2.Response) -> None:
        if response.status_code >= 400:
            self.status = response.status_code
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Capped(response.stream)


class _Capped(httpx2.AsyncByteStream):
    """A body of at most :data:`MAX_MESSAGE_BYTES` as it arrives."""

    def __init__(self, stream: httpx2.SyncByteStream | httpx2.AsyncByteStream | None) -> None:
        assert isinstance(stream, httpx2.AsyncByteStream)
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MAX_MESSAGE_BYTES:
                raise httpx2.StreamError(f"larger than {MAX_MESSAGE_BYTES // _MEGABYTE} MB")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def is_loopback(url: str) -> bool:
    """Whether ``url`` leads to this very machine by its wording; names aren't looked up."""
    host = (urlsplit(url).hostname or "").removesuffix(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False
