"""Starts the child that runs a GGUF file, knows whether it lives, and ends it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from server.errors import PetError
from server.masking import quotable
from server.models.builtin import child
from server.models.builtin.child import Orders
from server.models.builtin.files import ModelFile, broken

_START_S = 300.0  # a large model from a slow disk
_DYING_S = 0.5
_TAIL_LINES = 20
_BACKOFF_S = (0.0, 0.0, 1.0, 5.0, 15.0, 30.0)  # before the next start, by crashes in a row
_STEADY_S = 60.0  # a child that lived this long forgives the crashes before it
_GIVE_UP = 3  # starts that failed in a row; the file must change first


@dataclass(frozen=True, slots=True)
class Running:
    """Where a child listens; ``base_url`` ends in ``/v1``."""

    base_url: str
    api_key: str = field(repr=False)


class Launcher:
    """One child at most, started at first use and again after a crash.

    Args:
        provider: the provider's name, for errors.
        file: what the child runs.
        context_tokens: how much context it gets at most.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        provider: str,
        file: ModelFile,
        context_tokens: int,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._provider = provider
        self.file = file
        self.context_tokens = context_tokens
        self._clock = clock or asyncio.get_running_loop().time
        self._starting = asyncio.Lock()
        self._stopped = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None
        self._running: Running | None = None
        self._reader: asyncio.Task[None] | None = None
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)
        self._crashes = 0
        self._failed_starts = 0
        self._started_at = 0.0
        self._not_before = 0.0

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None and self.alive else None

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def died(self) -> bool:
        """Whether the child is dead; one whose connections just broke gets a moment to be seen dying."""
        if self._process is None:
            return True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DYING_S):
                await self._process.wait()
        return not self.alive

    async def ensure(self) -> Running:
        """Where the child listens; starts it where none runs.

        Raises:
            PetError: ``provider_error``: it can't run the file.
        """
        async with self._starting:
            if self._running is not None and self.alive:
                return self._running
            if self._running is not None:
                await self._note_crash()
            if self._failed_starts >= _GIVE_UP:
                raise self._failure()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, self._not_before - self._clock())):
                    await self._stopped.wait()
            try:
                return await self._start()
            except PetError:
                self._failed_starts += 1
                self._count_crash()
                raise

    async def stop(self) -> None:
        """Ends the child, also one that still starts, for good."""
        self._stopped.set()
        self._kill()
        async with self._starting:
            await self._end()

    async def _start(self) -> Running:
        if self._stopped.is_set():
            raise self._failure()
        self._tail.clear()
        self._started_at = self._clock()
        key = secrets.token_urlsafe(24)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # nothing is imported from the current folder, which may be anybody's repository
            child.__file__,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **_own_group(),
        )
        self._process = process
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            self._reader = asyncio.create_task(self._keep_tail(process.stderr))
            orders = Orders(
                path=str(self.file.path),
                context_tokens=self.context_tokens,
                max_reply_tokens=self.file.max_reply_tokens,
                loop_penalty=self.file.loop_penalty,
                api_key=key,
                parent=os.getpid(),
            )
            with contextlib.suppress(ConnectionError):
                process.stdin.write(orders.line())
                await process.stdin.drain()
            line = b""
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_START_S):
                    line = await process.stdout.readline()
            address = json.loads(line)["address"] if line else None
        except BaseException:
            await self._end()
            raise
        if address is None:
            await self._end()
            raise self._failure()
        self._failed_starts = 0
        self._running = Running(f"{address}/v1", key)
        return self._running

    def _kill(self) -> None:
        """At once: the child holds nothing that could be lost."""
        if self._process is not None and self.alive:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def _end(self) -> None:
        """Kills and waits. Interrupted, it can be called again: nothing is forgotten before it is over."""
        self._kill()
        self._running = None
        if self._process is not None:
            await self._process.wait()
            assert self._process.stdin is not None
            self._process.stdin.close()
            if self._reader is not None:
                await asyncio.shield(self._reader)
            self._process = None

    async def _note_crash(self) -> None:
        if self._clock() - self._started_at >= _STEADY_S:
            self._crashes = 0
        await self._end()
        self._count_crash()

    def _count_crash(self) -> None:
        self._crashes += 1
        self._not_before = self._clock() + _BACKOFF_S[min(self._crashes, len(_BACKOFF_S) - 1)]

    async def _keep_tail(self, stderr: asyncio.StreamReader) -> None:
        while line := await _line(stderr):
            self._tail.append(line.decode("utf-8", "replace").strip())

    def _failure(self) -> PetError:
        told = " ".join(line for line in self._tail if " E " in line or "Error" in line)
        if "invalid magic" in told or "failed to load model" in told or "tensor" in told:
            return broken("models.gguf_broken", self._provider, self.file.path)
        detail = quotable(told)
        text = "models.builtin_failed_detail" if detail else "models.builtin_failed"
        return broken(text, self._provider, self.file.path, detail)


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readline()
    except ValueError:  # a line longer than the reader's buffer, which is dropped
        return b"\n"


def _own_group() -> dict[str, Any]:
    """Ctrl-C in a terminal reaches its whole foreground group; the child lives on until it is told to end."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}
