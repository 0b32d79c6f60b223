"""The character's own words while tools take their time: no model call, no part of the reply."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final, Self

AFTER_S: Final = 1.5


class WaitingLine:
    """Says one of ``lines`` when what it surrounds takes longer than ``AFTER_S``; once.

    Args:
        say: shows the line.
    """

    def __init__(self, lines: Sequence[str], say: Callable[[str], None], after_s: float = AFTER_S) -> None:
        self._lines = lines
        self._say = say
        self._after_s = after_s
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        if self._lines:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._after_s, self._speak)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _speak(self) -> None:
        self._say(random.choice(self._lines))
