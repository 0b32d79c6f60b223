"""A started program with everything it starts, on real processes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from tests.support.processes import alive, gone
from tools.process import Program

DEADLINE_S = 20.0
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and process groups")

STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print(os.getpid(), child.pid, flush=True)
time.sleep(600)
"""
GRANDPARENT = """
import asyncio, os, sys
from pathlib import Path
from tools.process import Program

async def main():
    program = await Program.start([sys.executable, "-c", sys.argv[1]], env=dict(os.environ), cwd=Path.cwd())
    print((await program.stdout.readline()).decode().split()[0], program.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@asynccontextmanager
async def started(code: str, tmp_path: Path, **env: str) -> AsyncIterator[Program]:
    environ = {"PATH": os.environ["PATH"], **env}
    program = await Program.start([sys.executable, "-c", code], env=environ, cwd=tmp_path)
    try:
        yield program
    finally:
        await program.end()


async def test_a_program_speaks_through_its_own_pipes_in_its_folder_with_only_its_environment(
    tmp_path: Path,
) -> None:
    code = (
        "import os, sys; print(os.getcwd()); print(sorted(os.environ)); print(sys.stdin.readline().strip())"
    )
    async with started(code, tmp_path, EXTRA="1") as program, asyncio.timeout(DEADLINE_S):
        program.stdin.write("grüße\n".encode())
        said = (await program.stdout.read()).decode().splitlines()
        assert said[0] == str(tmp_path)
        assert "EXTRA" in said[1]
        assert not [name for name in ("HOME", "LANG", "USER") if f"'{name}'" in said[1]]
        assert said[2] == "grüße"
        await program.exited.wait()
        assert program.exit_code == 0


async def test_the_exit_code_is_the_programs_own(tmp_path: Path) -> None:
    async with started("raise SystemExit(7)", tmp_path) as program, asyncio.timeout(DEADLINE_S):
        await program.exited.wait()
        assert program.exit_code == 7


@posix
async def test_a_program_killed_by_a_signal_says_so(tmp_path: Path) -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    async with started(code, tmp_path) as program, asyncio.timeout(DEADLINE_S):
        await program.exited.wait()
        assert program.exit_code == 128 + signal.SIGKILL


async def test_a_program_that_ends_with_its_input_is_not_killed(tmp_path: Path) -> None:
    code = "import sys; sys.stdin.read(); open('done', 'w').close()"
    async with started(code, tmp_path):
        pass
    assert (tmp_path / "done").exists()


@posix
async def test_one_that_ignores_everything_ends_with_all_that_it_started(tmp_path: Path) -> None:
    async with started(STUBBORN, tmp_path) as program, asyncio.timeout(DEADLINE_S):
        pids = [int(word) for word in (await program.stdout.readline()).split()]
        before = time.monotonic()
        await program.end()
        assert time.monotonic() - before < 10
    await gone(*pids)


@posix
async def test_cancelling_the_end_kills_at_once(tmp_path: Path) -> None:
    async with started(STUBBORN, tmp_path) as program, asyncio.timeout(DEADLINE_S):
        pids = [int(word) for word in (await program.stdout.readline()).split()]
        ending = asyncio.create_task(program.end())
        await asyncio.sleep(0)
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ending
        await gone(*pids)


@posix
async def test_the_end_is_seen_although_a_grandchild_holds_the_pipes(tmp_path: Path) -> None:
    code = """
import subprocess, sys
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid, flush=True)
"""
    async with started(code, tmp_path) as program, asyncio.timeout(DEADLINE_S):
        pid = int(await program.stdout.readline())
        await program.exited.wait()
        assert alive(pid)
    await gone(pid)


@posix
async def test_nothing_stays_when_we_are_killed(tmp_path: Path) -> None:
    code = STUBBORN.replace(", start_new_session=True", "")
    ours = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        GRANDPARENT,
        code,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    async with asyncio.timeout(DEADLINE_S):
        assert ours.stdout is not None
        program, keeper = (int(word) for word in (await ours.stdout.readline()).split())
        family = [program, keeper, *(child.pid for child in psutil.Process(program).children())]
        assert len(family) == 3
        ours.kill()
        await ours.wait()
        await gone(*family)


async def test_what_cannot_be_started_says_why(tmp_path: Path) -> None:
    script = tmp_path / "broken"
    script.write_text("no program")
    script.chmod(0o755)
    try:
        program = await Program.start([str(script)], env={}, cwd=tmp_path)
    except OSError:
        return
    async with asyncio.timeout(DEADLINE_S):
        said = await program.stderr.read()
        await program.exited.wait()
    await program.end()
    assert program.exit_code == 127
    assert said.startswith(b"broken: ")
