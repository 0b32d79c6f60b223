"""The port on real sockets: what a stranger may send, in whatever pieces."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from websockets.frames import Frame, Opcode

from server.config.store import ConfigStore
from server.gateway.connection import FirstHead
from server.gateway.endpoint import Gateway
from server.gateway.front import Front
from server.gateway.token import TokenFile


class Echo:
    """A guest that sends back what it gets."""

    greeted = True

    def __init__(self, deliver: Callable[[str], None]) -> None:
        self._deliver = deliver

    async def receive(self, raw: str | bytes) -> None:
        self._deliver(str(raw))

    async def leave(self) -> None:
        pass

    def too_large(self, limit: int) -> None:
        pass


@dataclass
class Port:
    number: int
    token: str
    opened: list[asyncio.StreamWriter] = field(default_factory=list)

    def head(self, line: str, *fields: str) -> bytes:
        return "\r\n".join([f"{line} HTTP/1.1", f"Host: 127.0.0.1:{self.number}", *fields, "", ""]).encode()

    def upgrade(self, *fields: str) -> bytes:
        return self.head(
            "GET /ws",
            f"Authorization: Bearer {self.token}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            *fields,
        )

    async def connect(self, *pieces: bytes) -> asyncio.StreamReader:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.number)
        self.opened.append(writer)
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        return reader

    async def answer(self, *pieces: bytes) -> bytes:
        """All that comes back until the server closes."""
        async with asyncio.timeout(10):
            return await (await self.connect(*pieces)).read()


@pytest.fixture
async def port(tmp_path: Path) -> AsyncIterator[Port]:
    page, data = tmp_path / "page", tmp_path / "data"
    page.mkdir()
    data.mkdir()
    (page / "index.html").write_text("<!doctype html>", encoding="utf-8")
    (tmp_path / "lab.toml").write_text("", encoding="utf-8")
    front = Front(ConfigStore(tmp_path / "lab.toml", data), data, lambda: "ready", page=page)
    gateway = Gateway(front, lambda deliver, _address: Echo(deliver))
    number = await gateway.listen("127.0.0.1", 0)
    found = Port(number, TokenFile(data).read())
    try:
        yield found
    finally:
        for writer in found.opened:
            writer.close()
        await gateway.close()


@pytest.fixture(autouse=True)
def nothing_but_refusals_in_the_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.WARNING):
        yield
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_pipelined_requests_get_the_answer_to_the_first(port: Port) -> None:
    answer = await port.answer(port.head("GET /healthz") * 3)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.count(b"HTTP/1.1") == 1
    assert b"Connection: close" in answer


@pytest.mark.parametrize("rest", [b"\x00", b"GARBAGE" * 10_000, b"\x89\x85aaaahello", b"\r\n"])
async def test_bytes_behind_a_request_do_not_keep_it_from_its_answer(port: Port, rest: bytes) -> None:
    assert (await port.answer(port.head("GET /") + rest)).startswith(b"HTTP/1.1 200 ")
    assert (await port.answer(port.head("GET /"), rest)).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "body_field", ["Content-Length: 5", "content-length: 5", "Transfer-Encoding: chunked"]
)
async def test_a_request_with_a_body_is_told_that_its_method_is_not_allowed(
    port: Port, body_field: str
) -> None:
    for target in ("/", "/healthz"):
        answer = await port.answer(port.head(f"POST {target}", body_field) + b"5\r\nhello\r\n0\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 405 ")


async def test_a_body_of_many_megabytes_is_not_kept(port: Port) -> None:
    head = port.head("POST /", "Content-Length: 20000000")
    assert (await port.answer(head, *[bytes(1_000_000)] * 20)).startswith(b"HTTP/1.1 405 ")


async def test_a_refused_stranger_is_refused_with_a_body_too(port: Port) -> None:
    head = b"POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 5\r\n\r\nhello"
    assert (await port.answer(head)).startswith(b"HTTP/1.1 421 ")
    foreign = port.upgrade("Origin: https://evil.example") + b"\x81\x82aaaahi"
    assert (await port.answer(foreign)).startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\x16\x03\x01\x02\x00\x01",
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"x" * 100_000,
        b"a\n" * 50_000,
        b"\n" * 1_000,
    ],
)
async def test_what_is_no_request_is_closed_without_a_word(port: Port, nonsense: bytes) -> None:
    reader = await port.connect(nonsense)
    port.opened[-1].write_eof()
    async with asyncio.timeout(10):
        assert not (await reader.read()).startswith(b"HTTP/1.1 200")


async def test_frames_that_come_with_the_handshake_are_read_after_it(port: Port) -> None:
    frames = [Frame(Opcode.TEXT, text).serialize(mask=True) for text in (b"one", b"two", b"three")]
    reader = await port.connect(port.upgrade() + frames[0] + frames[1][:3], frames[1][3:], frames[2])
    async with asyncio.timeout(10):
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
        for expected in (b"one", b"two", b"three"):
            assert (await reader.readexactly(2 + len(expected)))[2:] == expected


async def test_a_handshake_in_single_bytes_opens_a_connection(port: Port) -> None:
    request = port.upgrade()
    reader = await port.connect(*(request[at : at + 1] for at in range(len(request))))
    async with asyncio.timeout(10):
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_the_first_head_ends_at_its_blank_line_however_it_is_cut(size: int) -> None:
    stream = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nX: y\r\n\r\nabc\r\n\r\n"
    head, taken, rest = FirstHead(), b"", b""
    for at in range(0, len(stream), size):
        piece = stream[at : at + size]
        if head.complete:
            rest += piece
        else:
            mine, behind = head.feed(piece)
            taken, rest = taken + mine, rest + behind
    assert taken == b"POST / HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n"
    assert rest == b"abc\r\n\r\n"
