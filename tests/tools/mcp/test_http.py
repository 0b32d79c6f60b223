"""Servers reached over streamable HTTP: a real one over uvicorn, and sockets that misbehave."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn
from mcp.server.mcpserver import Context as ServerContext
from mcp.server.mcpserver import MCPServer

from tests.support.calls import Context
from tests.support.mcp_house import DEADLINE_S, faulty, house, table
from tools.contract import ToolFailure


def served() -> MCPServer:
    """A server with tools of each kind, one of which adds another."""
    server = MCPServer("http", log_level="ERROR")
    done = asyncio.Event()

    @server.tool()
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool()
    def many(size: int) -> str:
        return "x" * size

    @server.tool()
    async def steps(ctx: ServerContext) -> str:
        await ctx.report_progress(1, 2, "half")
        return "done"

    @server.tool()
    async def wait() -> str:
        try:
            await asyncio.Event().wait()
        finally:
            done.set()
        return ""

    @server.tool()
    async def cancelled() -> str:
        await done.wait()
        return "yes"

    @server.tool()
    async def grow(ctx: ServerContext) -> str:
        server.add_tool(lambda: "new", name="grown")
        await ctx.notify_tools_changed()
        return "grown"

    return server


@asynccontextmanager
async def listening(port: int = 0, *, json_response: bool = False) -> AsyncIterator[int]:
    """The server on a real port; its number."""
    app = served().streamable_http_app(json_response=json_response)
    listener = socket.create_server(("127.0.0.1", port))
    config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=0, lifespan="on")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        server.force_exit = True
        await asyncio.wait({task}, timeout=DEADLINE_S)
        listener.close()


@asynccontextmanager
async def answering(answer: bytes | None) -> AsyncIterator[str]:
    """A socket that answers each request so, or never."""

    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await reader.readuntil(b"\r\n\r\n")
        if answer is not None:
            writer.write(answer)
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    finally:
        server.close()
        for writer in writers:
            writer.close()
            await asyncio.wait([asyncio.create_task(closed(writer))], timeout=DEADLINE_S)


async def closed(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


def at(port: int, **keys: object) -> str:
    return table("x", url=f"http://127.0.0.1:{port}/mcp", **keys)


async def test_a_server_over_http_gives_its_tools_and_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # no proxy stands between this machine and itself
    async with listening() as port, house(tmp_path, at(port)) as it:
        await it.ready()
        assert it.names()[:2] == ["x__add", "x__many"]
        assert await it.says("x__add", a=20, b=22) == "42"
        context = Context()
        await it.call("x__steps", context)
        assert context.told == [(1.0, 2.0, "half")]
        with pytest.raises(ToolFailure, match="add"):
            await it.call("x__add", a="no number")


async def test_cancelling_a_call_over_http_ends_it_there(tmp_path: Path) -> None:
    async with listening() as port, house(tmp_path, at(port, timeout_s=30)) as it:
        await it.ready()
        waiting = asyncio.create_task(it.call("x__wait"))
        await it.says("x__add", a=1, b=1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await it.says("x__cancelled") == "yes"


async def test_a_changed_list_of_tools_is_taken_over_over_http(tmp_path: Path) -> None:
    async with listening() as port, house(tmp_path, at(port)) as it:
        await it.ready()
        await it.call("x__grow")
        await it.until(lambda: "x__grown" in it.names())


@pytest.mark.parametrize("json_response", [True, False])
async def test_an_answer_that_is_too_large_is_refused(json_response: bool, tmp_path: Path) -> None:
    async with (
        listening(json_response=json_response) as port,
        house(tmp_path, at(port, timeout_s=40)) as it,
    ):
        await it.ready()
        assert len(await it.says("x__many", size=1_000_000)) == 1_000_000
        with pytest.raises(ToolFailure):
            await it.call("x__many", size=40_000_000)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


async def test_a_server_that_is_not_there_yet_is_found_when_it_comes(tmp_path: Path) -> None:
    port = free_port()
    async with house(tmp_path, at(port)) as it:
        await it.until(lambda: it.state() == "failed")
        assert it.error().startswith("It can't be reached at its address")
        async with listening(port):
            await it.ready()
            assert await it.says("x__add", a=1, b=1) == "2"


async def test_a_server_that_ends_while_connected_fails_calls_and_is_found_again(tmp_path: Path) -> None:
    port = free_port()
    async with house(tmp_path, at(port, timeout_s=5)) as it:
        async with listening(port):
            await it.ready()
        with pytest.raises(ToolFailure, match=r"was lost|isn't connected"):
            await it.call("x__add", a=1, b=1)
        await it.until(lambda: it.state() != "ready")
        async with listening(port):
            await it.ready()
            assert await it.says("x__add", a=1, b=1) == "2"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", "HTTP status 401"),
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", "HTTP status 500"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi",
            "speak MCP as expected",
        ),
        (b"HTTP/1.1 307 T\r\nLocation: http://192.0.2.1/mcp\r\nContent-Length: 0\r\n\r\n", "not followed"),
        (b"SSH-2.0-OpenSSH_9\r\n", "can't be reached"),
        (b"", "can't be reached"),
    ],
)
async def test_an_address_where_no_mcp_server_answers_is_named_so(
    answer: bytes, error: str, tmp_path: Path
) -> None:
    async with answering(answer) as url, house(tmp_path, table("x", url=url)) as it:
        await it.until(lambda: it.state() == "failed")
        assert error in it.error()


async def test_one_that_never_answers_has_a_deadline_and_closing_does_not_wait_for_it(tmp_path: Path) -> None:
    async with answering(None) as url:
        slow = table("slow", url=url, start_timeout_s=600)
        quick = table("x", url=url, start_timeout_s=0.3)
        async with house(tmp_path, slow, quick, faulty(name="ok")) as it:
            await it.until(lambda: it.state() == "failed")
            assert it.error() == "It didn't get ready within 0.3 s."
            await it.ready("ok")
            assert it.state("slow") == "starting"
            async with asyncio.timeout(10):
                await it.servers.aclose()
