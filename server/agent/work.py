"""One running tool call: bounded in time, stopped together with its work, left behind when it won't stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from tools.contract import Capability, PicturePart, Tool, ToolResult

log = logging.getLogger(__name__)

Progress = Callable[[float | None, float | None, str | None], None]


class TurnContext(Protocol):
    """What the calls of a turn share; progress is each call's own."""

    @property
    def turn(self) -> int: ...

    @property
    def known_urls(self) -> frozenset[str]: ...

    async def consent(self, capability: Capability, detail: str) -> bool: ...

    def picture(self, ref: str) -> PicturePart | None: ...


class Overtime(Exception):
    """The call gave no result in time."""


class Stopped(Exception):
    """The call was cancelled from inside, by whatever it relied on."""


async def run_tool(
    tool: Tool,
    arguments: Mapping[str, Any],
    turn: TurnContext,
    progress: Progress,
    *,
    timeout_s: float,
    grace_s: float,
) -> ToolResult:
    """Calls ``tool``. The time in which its owner is asked for consent doesn't count.

    A call that still runs ``grace_s`` after it was cancelled is left behind: it can do nothing to the turn
    any more.

    Raises:
        Overtime: ``timeout_s`` are over.
        Stopped: the call was cancelled, but not by whoever waits here.
        ToolFailure: as the tool says; and whatever else a broken tool raises.
    """
    context = _CallContext(turn, progress)
    work = asyncio.create_task(tool.call(arguments, context), name=tool.info.name)
    late = False
    try:
        async with asyncio.timeout(timeout_s) as limit:
            context.limit = limit
            await asyncio.wait({work})
    except TimeoutError:
        late = not work.done()
    finally:
        context.close()
        await _stop(work, grace_s)
    if late:
        raise Overtime
    if work.cancelled():
        raise Stopped
    return work.result()


class _CallContext:
    """The context of one call (:class:`tools.contract.CallContext`), deaf once the call is over."""

    def __init__(self, turn: TurnContext, progress: Progress) -> None:
        self.limit: asyncio.Timeout | None = None
        self._turn = turn
        self._progress = progress
        self._open = True

    @property
    def turn(self) -> int:
        return self._turn.turn

    @property
    def known_urls(self) -> frozenset[str]:
        return self._turn.known_urls

    def close(self) -> None:
        self._open = False

    def progress(
        self, done: float | None = None, total: float | None = None, note: str | None = None
    ) -> None:
        if self._open:
            self._progress(done, total, note)

    async def consent(self, capability: Capability, detail: str) -> bool:
        if not self._open:
            return False
        clock = asyncio.get_running_loop().time
        due = self.limit.when() if self.limit is not None else None
        if self.limit is None or due is None:
            return await self._turn.consent(capability, detail)
        left = due - clock()
        self.limit.reschedule(None)
        try:
            return await self._turn.consent(capability, detail)
        finally:
            if self._open:
                self.limit.reschedule(clock() + left)

    def picture(self, ref: str) -> PicturePart | None:
        return self._turn.picture(ref)


_left_behind: set[asyncio.Task[ToolResult]] = set()


async def _stop(work: asyncio.Task[ToolResult], grace_s: float) -> None:
    """Cancels ``work`` and waits for its clean-up, but not for ever."""
    if not work.done():
        work.cancel()
        await asyncio.wait({work}, timeout=grace_s)
    if work.done():
        # Its exception was seen: without this, asyncio would complain at some later time.
        _ = work.cancelled() or work.exception()
        return
    log.warning("%s ignores that it was cancelled and is left behind", work.get_name())
    _left_behind.add(work)
    work.add_done_callback(_forget)


def _forget(work: asyncio.Task[ToolResult]) -> None:
    _left_behind.discard(work)
    _ = work.cancelled() or work.exception()
