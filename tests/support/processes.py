"""Waiting for the end of processes that aren't ours."""

from __future__ import annotations

import asyncio
import time

import psutil

DEADLINE_S = 20.0


async def gone(*pids: int) -> None:
    """Returns when none of the processes runs any more; fails where one still does after the deadline."""
    running = await asyncio.to_thread(_still_running, pids)
    assert not running, f"still running: {running}"


def alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _still_running(pids: tuple[int, ...]) -> list[int]:
    """Polls: there is no event for the end of another's child, whose remains nobody may ever collect."""
    end = time.monotonic() + DEADLINE_S
    while running := [pid for pid in pids if alive(pid)]:
        if time.monotonic() > end:
            break
        time.sleep(0.01)
    return running
