"""The program as a user runs it: a process of its own, spoken to over its real port."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
from websockets.asyncio.client import ClientConnection, connect

from tests.support.companion import DEADLINE_S

ROOT = Path(__file__).resolve().parents[2]
_LISTENING = re.compile(r"pet is listening on (http://\S+)")


def environment(**extra: str) -> dict[str, str]:
    """This process's environment with English messages and without what steers the companion."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PET_")}
    return {**kept, "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", **extra}


async def run_pet(*arguments: str, **extra: str) -> tuple[int, str, str]:
    """Runs ``pet ARGUMENTS`` to its end: exit status, stdout, stderr."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "server.cli",
        *arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(**extra),
    )
    async with asyncio.timeout(60):
        out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


class PetProcess:
    """``pet serve`` on a free port.

    Attributes:
        url: where it listens.
    """

    def __init__(self, process: asyncio.subprocess.Process, url: str, folder: Path) -> None:
        self.process = process
        self.url = url
        self.folder = folder

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def token(self) -> str:
        completed = subprocess.run(
            [sys.executable, "-m", "server.cli", "token", *places(self.folder)],
            capture_output=True,
            text=True,
            check=True,
            env=environment(),
        )
        return completed.stdout.strip()

    def descendants(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    @asynccontextmanager
    async def page(self, **hello: Any) -> AsyncIterator[Wire]:
        """A browser's connection: it has an Origin and no token."""
        url = f"ws://127.0.0.1:{self.port}/ws"
        async with connect(url, origin=self.url, proxy=None) as socket:  # type: ignore[arg-type]
            wire = Wire(socket)
            await wire.send("hello", protocol=1, **hello)
            wire.welcome = await wire.until("welcome")
            yield wire

    async def stop(self, number: int = signal.SIGTERM) -> int:
        """Sends a signal and returns the exit status."""
        self.process.send_signal(number)
        async with asyncio.timeout(DEADLINE_S):
            return await self.process.wait()


class Wire:
    """A WebSocket client that speaks frames."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.welcome: dict[str, Any] = {}
        self.frames: list[dict[str, Any]] = []

    async def send(self, type_: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"type": type_, **fields}))

    async def until(self, *types: str) -> dict[str, Any]:
        async with asyncio.timeout(DEADLINE_S):
            while True:
                frame: dict[str, Any] = json.loads(await self.socket.recv())
                self.frames.append(frame)
                if frame["type"] in types:
                    return frame

    async def ask(self, type_: str, **fields: Any) -> dict[str, Any]:
        await self.send(type_, id="ask", **fields)
        while True:
            frame = await self.until(
                type_, "ok", "error", "status", "chat", "settings", "models", "turn.start"
            )
            if frame.get("re") == "ask":
                return frame


def places(folder: Path) -> list[str]:
    """The options that make ``folder`` the companion's whole world."""
    return ["--config", str(folder / "lab.toml"), "--data-dir", str(folder / "data")]


@asynccontextmanager
async def serving(folder: Path, *arguments: str, **extra: str) -> AsyncIterator[PetProcess]:
    """``pet serve`` with the lab.toml in ``folder``; ended by force if the test didn't end it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "server.cli",
        "serve",
        "--no-open",
        "--port",
        "0",
        *places(folder),
        *arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(**extra),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        async with asyncio.timeout(30):
            line = (await process.stdout.readline()).decode()
        found = _LISTENING.fullmatch(line.strip())
        if found is None:
            raise AssertionError(f"{line!r}, then {(await process.stderr.read()).decode()}")
        yield PetProcess(process, found[1], folder)
    finally:
        if process.returncode is None:
            family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
            for member in family:
                with suppress(psutil.NoSuchProcess):
                    member.kill()
            await process.wait()
