"""A program that we start and later end together with everything it started.

It runs in a process group of its own behind a keeper (:mod:`tools.keeper`), on Windows in a job object:
neither an end of ours nor a crash leaves anything behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tools import keeper

log = logging.getLogger(__name__)

TERMINATE_AFTER_S: Final = 0.8
KILL_AFTER_S: Final = 0.4
_REAP_S: Final = 0.3
_READ_LIMIT: Final = 1 << 20


class Program:
    """A running program.

    Attributes:
        stdin, stdout, stderr: its streams.
        exited: set as soon as it has ended, even while something that it started holds its streams open.
    """

    def __init__(self, transport: asyncio.SubprocessTransport, protocol: _Streams, leash: Any) -> None:
        process = asyncio.subprocess.Process(transport, protocol, asyncio.get_running_loop())
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.stdin, self.stdout, self.stderr = process.stdin, process.stdout, process.stderr
        self.exited = protocol.exited
        self._transport = transport
        self._leash = leash
        self._let_go = False

    @classmethod
    async def start(cls, argv: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> Program:
        """Starts ``argv`` (its first word already resolved) with exactly ``env``.

        Raises:
            OSError: it can't be started.
        """
        if sys.platform == "win32":
            flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
            transport, protocol = await _spawn(argv, env=env, cwd=cwd, creationflags=flags)
            return cls(transport, protocol, _job_with(transport.get_pid()))
        read_end, write_end = os.pipe()
        try:
            kept = [sys.executable, "-I", "-S", keeper.__file__, str(read_end), *argv]
            transport, protocol = await _spawn(
                kept, env=env, cwd=cwd, start_new_session=True, pass_fds=(read_end,)
            )
        except BaseException:
            os.close(write_end)
            raise
        finally:
            os.close(read_end)
        return cls(transport, protocol, write_end)

    @property
    def pid(self) -> int:
        """On POSIX the keeper's, which is the group's too."""
        return self._transport.get_pid()

    @property
    def exit_code(self) -> int | None:
        """128 + n for the signal n; None while it runs."""
        return self._transport.get_returncode()

    async def end(self) -> None:
        """Closes its input, then asks it to end, then kills it and all that it started; takes at most about
        1.5 s. Cancelling it kills at once."""
        started = None
        try:
            started = await asyncio.to_thread(_descendants, self.pid)
            self.stdin.close()
            if not await self._ended_within(TERMINATE_AFTER_S):
                self._signal_group("SIGTERM")
                await self._ended_within(KILL_AFTER_S)
            self._kill_all(started)
            await self._ended_within(_REAP_S)
        finally:
            # Cancelled before they were found: then it is worth a moment's wait.
            self._kill_all(started if started is not None else _descendants(self.pid))
            self._release()

    async def _ended_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.exited.wait()
        return self.exited.is_set()

    def _signal_group(self, name: str) -> None:
        if sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, getattr(signal, name))

    def _kill_all(self, started: list[Any]) -> None:
        self._kill_group()
        for process in started:
            with contextlib.suppress(Exception):  # gone, or not ours to end
                process.kill()

    def _kill_group(self) -> None:
        if self._let_go:
            return  # its number may be another's by now
        self._signal_group("SIGKILL")
        if not self.exited.is_set():
            with contextlib.suppress(ProcessLookupError):
                self._transport.kill()

    def _release(self) -> None:
        leash, self._leash, self._let_go = self._leash, None, True
        if isinstance(leash, int):
            os.close(leash)
        elif leash is not None:
            leash.Close()
        # A survivor may hold the pipes open, which would keep the transport.
        with contextlib.suppress(PermissionError):
            self._transport.close()


class _Streams(asyncio.subprocess.SubprocessStreamProtocol):
    """asyncio's own ``wait()`` also waits for the pipes to end; ``exited`` doesn't."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(_READ_LIMIT, loop)
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


async def _spawn(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, **options: Any
) -> tuple[asyncio.SubprocessTransport, _Streams]:
    loop = asyncio.get_running_loop()
    return await loop.subprocess_exec(
        lambda: _Streams(loop),
        *argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(env),
        cwd=cwd,
        **options,
    )


def _descendants(pid: int) -> list[Any]:
    """What the program started, as ``psutil.Process``: seen while it lives, for some of it may have left the
    group."""
    psutil: Any = importlib.import_module("psutil")
    try:
        found: list[Any] = psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []
    return found


def _job_with(pid: int) -> Any:
    """A Windows job object with the process in it: everything in it ends with the last handle to it, ours.
    None where that can't be had; then only :meth:`Program.end` ends what the program started."""
    api: Any = importlib.import_module("win32api")
    constants: Any = importlib.import_module("win32con")
    jobs: Any = importlib.import_module("win32job")
    try:
        job = jobs.CreateJobObject(None, "")
        limits = jobs.QueryInformationJobObject(job, jobs.JobObjectExtendedLimitInformation)
        limits["BasicLimitInformation"]["LimitFlags"] |= jobs.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
        jobs.SetInformationJobObject(job, jobs.JobObjectExtendedLimitInformation, limits)
        handle = api.OpenProcess(constants.PROCESS_SET_QUOTA | constants.PROCESS_TERMINATE, False, pid)
        try:
            jobs.AssignProcessToJobObject(job, handle)
        finally:
            api.CloseHandle(handle)
    except Exception as error:  # pywintypes.error: it has ended already, or may not be in two jobs
        log.warning("a started program could not be put into a job object: %s", error)
        return None
    return job
