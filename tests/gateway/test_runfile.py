"""run.json, stale, forged or broken: the token goes to nobody who can't prove that he has it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from server.gateway.proof import proof
from server.gateway.runfile import RunFile, Running
from tests.support.companion import companion
from tests.support.process import places, run_pet

TOKEN = "t" * 43


def running(port: int, pid: int | None = None) -> Running:
    return Running(f"http://127.0.0.1:{port}", "127.0.0.1", port, os.getpid() if pid is None else pid)


def write(folder: Path, content: Any) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / "run.json").write_text(text, encoding="utf-8")


@asynccontextmanager
async def impostor(
    answer: Callable[[str, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[tuple[int, list[str]]]:
    """A server that isn't ours: its port, and everything that it was sent."""
    heard: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            heard.append((await reader.readuntil(b"\r\n\r\n")).decode())
            await answer(heard[-1], writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], heard


def healthy(**more: str) -> bytes:
    body = json.dumps({"status": "ok", **more})
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


def nonce_of(request: str) -> str:
    return next(line.partition(": ")[2] for line in request.split("\r\n") if line.startswith("X-Pet-Nonce"))


@pytest.mark.parametrize(
    "content",
    [
        {"url": "http://[bad", "pid": 1},
        '{"url": "http://127.0.0.1:1", "pid": Infinity}',
        {"url": "http://127.0.0.1:1", "pid": "1"},
        {"url": "http://127.0.0.1:1", "pid": -1},
        {"url": "http://127.0.0.1:99999", "pid": 1},
        {"url": "ftp://127.0.0.1:1", "pid": 1},
        {"url": ["http://127.0.0.1:1"], "pid": 1},
        "[" * 15_000,
        "[]",
        "",
        "null",
    ],
)
def test_a_broken_run_file_counts_as_none(tmp_path: Path, content: Any) -> None:
    write(tmp_path, content)
    assert RunFile(tmp_path).read() is None


async def test_a_companion_proves_that_it_knows_the_token(tmp_path: Path) -> None:
    async with companion(tmp_path, ""):
        found = RunFile(tmp_path / "data").read()
        token = (tmp_path / "data" / "token").read_text().strip()
        assert found is not None
        assert await asyncio.to_thread(found.answers, token)
        assert not await asyncio.to_thread(found.answers, TOKEN)
        assert await asyncio.to_thread(found.answers, None)


async def test_who_only_looks_like_a_companion_is_not_believed() -> None:
    async def answer(_: str, writer: asyncio.StreamWriter) -> None:
        writer.write(healthy(proof="0" * 64))

    async with impostor(answer) as (port, heard):
        assert not await asyncio.to_thread(running(port).answers, TOKEN)
        assert len(heard) == 1


async def test_a_proof_that_was_fetched_from_another_port_is_not_believed() -> None:
    async def answer(request: str, writer: asyncio.StreamWriter) -> None:
        writer.write(healthy(proof=proof(TOKEN, nonce_of(request), 6769)))

    async with impostor(answer) as (port, _):
        assert not await asyncio.to_thread(running(port).answers, TOKEN)


async def test_an_entry_whose_process_has_died_is_not_asked() -> None:
    async def answer(request: str, writer: asyncio.StreamWriter) -> None:
        raise AssertionError("nobody may be asked")

    async with impostor(answer) as (port, heard):
        assert not await asyncio.to_thread(running(port, 2**31 - 1).answers, TOKEN)
        assert heard == []


async def test_a_port_that_drips_bytes_does_not_hold_up_anybody() -> None:
    async def answer(_: str, writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(b"H")
            await writer.drain()
            await asyncio.sleep(0.1)

    async with impostor(answer) as (port, _), asyncio.timeout(10):
        assert not await asyncio.to_thread(running(port).answers, TOKEN)


async def test_say_tells_an_impostor_neither_the_token_nor_the_text(tmp_path: Path) -> None:
    async def answer(_: str, writer: asyncio.StreamWriter) -> None:
        writer.write(healthy(proof="0" * 64))

    (tmp_path / "lab.toml").write_text('[agent.models.chat]\nprovider = "nobody"\n', encoding="utf-8")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "token").write_text(TOKEN)
    async with impostor(answer) as (port, heard):
        write(tmp_path / "data", {"url": f"http://127.0.0.1:{port}", "pid": os.getpid()})
        await run_pet("say", "secret words", *places(tmp_path))
        assert len(heard) == 1
        assert TOKEN not in heard[0]
        assert "secret words" not in heard[0]


def test_a_run_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "run.json").mkdir()
    with pytest.raises(OSError, match=r"run\.json"):
        RunFile(tmp_path).write("http://127.0.0.1:1")
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
