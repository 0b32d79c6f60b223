"""What a signal does to ``pet serve``, from its first moment to its last: it stops, with status 0.

Nothing heavy is imported here: these handlers hold before everything else is.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from types import FrameType

_FORCED_BY = 3
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
_asked = 0


def leave_quietly() -> None:
    """From now on a signal ends the process at once: nothing has been opened yet."""
    _handle(lambda: os._exit(0))


def stop_by(stop: Callable[[], None]) -> None:
    """From now on a signal calls ``stop``, in the main thread; the third one doesn't wait any longer.

    Not by the event loop's own handlers: those go before the last things are done, and a signal then would
    change the exit status.
    """

    def ask() -> None:
        global _asked
        _asked += 1
        if _asked >= _FORCED_BY:
            os._exit(1)
        stop()

    _handle(ask)


def ignore() -> None:
    """From now on signals do nothing: the process is about to end anyway."""
    for number in _numbers():
        signal.signal(number, signal.SIG_IGN)


def as_usual() -> None:
    """What signals do in any other command."""
    for number in _numbers():
        usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, usual)


def _handle(action: Callable[[], None]) -> None:
    def handler(_number: int, _frame: FrameType | None) -> None:
        action()

    for number in _numbers():
        signal.signal(number, handler)


def _numbers() -> list[int]:
    """Those of this system; a hangup that ``nohup`` keeps away stays away."""
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    return [
        number
        for number in numbers
        if not (number == getattr(signal, "SIGHUP", None) and signal.getsignal(number) == signal.SIG_IGN)
    ]
