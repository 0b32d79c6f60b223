"""How many turns a client and all clients together may start."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

from server.config.schema import Config
from server.errors import PetError
from server.gateway.message import check_message
from server.protocol import Image

if TYPE_CHECKING:
    from limits.aio.strategies import MovingWindowRateLimiter

log = logging.getLogger(__name__)

_MEMORY: Final = "memory"
_MINUTE_S: Final = 60
_HOUR_S: Final = 3600


class HasConfig(Protocol):
    """Where the limits stand now (:class:`server.config.store.ConfigStore`)."""

    @property
    def config(self) -> Config: ...


class Admission:
    """Lets a message become a turn, or says why not, before anything is asked upstream.

    Counted in a moving window, in memory or in the store that ``[limits] storage`` names. Where that
    store can't be used, memory counts instead: no failure lifts a limit.
    """

    def __init__(self, store: HasConfig) -> None:
        self._store = store
        self._counters: dict[str, MovingWindowRateLimiter] = {}
        self._opening = asyncio.Lock()
        self._store_failed = False

    async def admit(self, address: str, text: str, images: Sequence[Image]) -> None:
        """Checks a message from ``address`` and counts it.

        Raises:
            PetError: ``too_large``, ``bad_request``, or ``rate_limited`` with ``retry_after_s``.
        """
        limits = self._store.config.limits
        check_message(limits, text, images)
        for limit, window_s, who, words in (
            (limits.turns_per_minute, _MINUTE_S, address, "gateway.too_many_turns"),
            (limits.turns_per_hour, _HOUR_S, "", "gateway.too_many_turns_in_all"),
        ):
            if wait := await self._count(limits.storage, limit, window_s, who):
                raise PetError(
                    "rate_limited",
                    words,
                    retryable=True,
                    retry_after_s=wait,
                    limit=limit,
                    seconds=math.ceil(wait),
                )

    async def _count(self, storage: str, limit: int, window_s: int, who: str) -> float:
        if storage != _MEMORY:
            try:
                wait = await self._count_in(storage, limit, window_s, who)
            except Exception as error:
                if not self._store_failed:
                    log.warning("the limits' store fails (%s); memory counts instead", type(error).__name__)
                self._store_failed = True
            else:
                self._store_failed = False
                return wait
        return await self._count_in(_MEMORY, limit, window_s, who)

    async def _count_in(self, storage: str, limit: int, window_s: int, who: str) -> float:
        """Counts one turn; 0, or the seconds until there is room for it."""
        async with self._opening:
            if storage not in self._counters:
                self._counters[storage] = await asyncio.to_thread(_open, storage)
        from limits import RateLimitItemPerSecond

        counter, item = self._counters[storage], RateLimitItemPerSecond(limit, window_s)
        if await counter.hit(item, "turns", who):
            return 0.0
        window = await counter.get_window_stats(item, "turns", who)
        return min(max(window.reset_time - time.time(), 0.1), float(window_s))


def _open(storage: str) -> MovingWindowRateLimiter:
    """Off the event loop: the library alone takes longer to import than a turn to begin."""
    from limits.aio.storage import MemoryStorage
    from limits.aio.strategies import MovingWindowRateLimiter
    from limits.storage import storage_from_string

    store = MemoryStorage() if storage == _MEMORY else storage_from_string(f"async+{storage}")
    return MovingWindowRateLimiter(store)
