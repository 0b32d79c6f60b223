"""Stands between the companion and a program that it started (not on Windows, which has job objects).

The program and whatever it starts share the keeper's process group. When the companion ends, however that
happens, the lifeline breaks and the keeper kills the whole group, itself included: a program that ignores the
end of its input doesn't stay. It imports nothing of ours, so that it can be started by its path.

    python -I -S keeper.py LIFELINE_FD PROGRAM [ARGUMENT …]
"""

from __future__ import annotations

import _thread
import os
import select
import signal
import sys
from typing import NoReturn

_CANNOT_START = 127
_SIGNALS_IGNORED_BY_PYTHON = ("SIGPIPE", "SIGXFSZ")


def main(words: list[str]) -> NoReturn:
    if sys.platform == "win32":
        raise SystemExit("not for Windows")
    lifeline, command = int(words[0]), words[1:]
    os.set_inheritable(lifeline, False)
    # Whoever stops the group waits for the program's end, not for the keeper's. A handler, unlike ignoring,
    # isn't inherited by the program.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    restored = [getattr(signal, name) for name in _SIGNALS_IGNORED_BY_PYTHON if hasattr(signal, name)]
    try:
        pid = os.posix_spawnp(command[0], command, os.environ, setsigdef=restored)
    except OSError as error:
        print(f"{os.path.basename(command[0])}: {error.strerror}", file=sys.stderr, flush=True)  # noqa: PTH119
        os._exit(_CANNOT_START)
    _let_go_of_the_pipes()
    _thread.start_new_thread(_kill_at_the_end_of, (lifeline,))
    _, status = os.waitpid(pid, 0)
    if select.select([lifeline], [], [], 0)[0]:  # both ended at once: what the program started may still run
        os.killpg(0, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def _let_go_of_the_pipes() -> None:
    """Only the program may hold them, or the companion would never see them end."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _kill_at_the_end_of(lifeline: int) -> None:
    if sys.platform != "win32":
        os.read(lifeline, 1)
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
