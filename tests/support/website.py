"""A web site on a real socket, and an internet that has it at public addresses."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import httpcore2


@dataclass
class Asked:
    """One request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""


Handler = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


def answer(
    body: bytes | str = b"",
    *,
    status: int = 200,
    kind: str = "text/html; charset=utf-8",
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """A whole answer as bytes."""
    body = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} Some", f"Content-Length: {len(body)}", "Connection: close"]
    if kind:
        lines.append(f"Content-Type: {kind}")
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@dataclass
class Website:
    """``async with Website() as site``: pages are put in ``pages`` (path to bytes or a handler).

    Attributes:
        asked: the requests so far.
        connections: how many connections there were, with or without a request.
        gone: set whenever a client has left a connection that was still being served.
    """

    tls: ssl.SSLContext | None = None
    pages: dict[str, bytes | Handler] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def __aenter__(self) -> Self:
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in self._writers), return_exceptions=True)
        await self._server.wait_closed()

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"http://{self.authority}{path}"

    def paths(self) -> list[str]:
        return [asked.target for asked in self.asked]

    def redirect(self, path: str, to: str, status: int = 302) -> None:
        self.pages[path] = answer(status=status, headers={"Location": to})

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.strip().split("\r\n")
            method, target, _ = first.split(" ", 2)
            headers = {
                name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
            }
            asked = Asked(
                method, target, headers, await reader.readexactly(int(headers.get("content-length", 0)))
            )
            self.asked.append(asked)
            self.came.set()
            page = self.pages.get(target.partition("?")[0], answer("no such page", status=404))
            if isinstance(page, bytes):
                writer.write(page)
            else:
                work = asyncio.ensure_future(page(asked, writer))
                left = asyncio.ensure_future(reader.read(1))
                try:
                    await asyncio.wait({work, left}, return_when=asyncio.FIRST_COMPLETED)
                    if not work.done():
                        self.gone.set()
                finally:
                    work.cancel()
                    left.cancel()
                    for done in await asyncio.gather(work, left, return_exceptions=True):
                        if isinstance(done, ConnectionError):
                            self.gone.set()
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone.set()
        finally:
            writer.close()


@dataclass
class Internet:
    """Names and public addresses, all of which lead to sockets on this machine.

    Attributes:
        names: a name to what each look-up answers in turn; the last answer stays.
        sites: a public address to the port where its site really listens.
        looked_up, dialled: what was asked for so far.
    """

    names: dict[str, list[Sequence[str]]] = field(default_factory=dict)
    sites: dict[str, int] = field(default_factory=dict)
    looked_up: list[str] = field(default_factory=list)
    dialled: list[tuple[str, int]] = field(default_factory=list)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.looked_up.append(host)
        answers = self.names.get(host)
        if not answers:
            raise OSError("no such name")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def dial(self, address: str, port: int, timeout_s: float | None) -> httpcore2.AsyncNetworkStream:
        self.dialled.append((address, port))
        if address not in self.sites:
            raise httpcore2.ConnectError("unreachable")
        return await httpcore2.AnyIOBackend().connect_tcp("127.0.0.1", self.sites[address], timeout=timeout_s)
