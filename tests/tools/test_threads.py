from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from tests.support.process import ROOT
from tools.threads import run_blocking

HANGS = """
import asyncio, threading
from tools.threads import run_blocking
async def main():
    try:
        async with asyncio.timeout(0.01):
            await run_blocking(threading.Event().wait, "hangs")
    except TimeoutError:
        print("gave up")
asyncio.run(main())
"""


async def test_the_result_comes_back() -> None:
    assert await run_blocking(lambda: 42, "sum") == 42


async def test_a_failure_comes_back() -> None:
    def fail() -> None:
        raise ZeroDivisionError("no")

    with pytest.raises(ZeroDivisionError):
        await run_blocking(fail, "fails")


async def test_the_loop_goes_on_meanwhile() -> None:
    go = threading.Event()
    waiting = asyncio.create_task(run_blocking(lambda: go.wait(30), "waits"))
    await asyncio.sleep(0)
    go.set()
    assert await waiting is True


async def test_cancelling_does_not_wait_for_work_that_hangs() -> None:
    go = threading.Event()
    started = threading.Event()

    def hang() -> None:
        started.set()
        go.wait(30)

    task = asyncio.create_task(run_blocking(hang, "hangs"))
    await asyncio.to_thread(started.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go.set()


def test_work_that_hangs_does_not_keep_the_program_from_ending() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HANGS],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "gave up\n", "")
