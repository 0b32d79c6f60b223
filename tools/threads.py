"""Blocking work beside the event loop that can never hold it up, nor the end of the program."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


async def run_blocking(work: Callable[[], T], name: str) -> T:
    """What ``work`` returns, done in a daemon thread of its own called ``name``.

    Cancelling leaves the work alone: whatever can take long looks at a flag of its caller. Unlike a
    thread of a pool, one that hangs for good (a dead display, a lost network drive) neither takes a
    worker away nor keeps the process from ending.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        outcome.set_running_or_notify_cancel()
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await asyncio.wrap_future(outcome)
