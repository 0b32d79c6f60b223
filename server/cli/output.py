"""What commands print: others' words without control characters, and an end that is said where nothing can
be printed."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, TextIO

_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_NOT_TAKEN: Final = frozenset({errno.ENOSPC, errno.EPIPE, errno.EIO, errno.EBADF, errno.EINVAL})
_FAILED: Final = 1


class NotTaken(Exception):
    """The standard output takes nothing (any more)."""


def printable(text: str) -> str:
    """``text`` without what a terminal obeys instead of showing it: control characters other than line feed
    and tab, and those that turn the direction of writing."""
    return _CONTROLS.sub("", text)


def write(text: str) -> None:
    """Shows others' words on the standard output, at once.

    Raises:
        NotTaken: it is closed or full.
    """
    if sys.stdout is None:
        raise NotTaken("closed")
    try:
        sys.stdout.write(printable(text))
        sys.stdout.flush()
    except OSError as error:
        raise NotTaken(error.strerror or type(error).__name__) from error


def hush(stream: TextIO | None) -> None:
    """Lets nothing more go to a ``stream`` that takes nothing: what is left in it would fail at the end."""
    with suppress(OSError, ValueError):
        if stream is not None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


@contextmanager
def guarded() -> Iterator[None]:
    """Ends the process with status 1 and one line where what it prints isn't taken."""
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except (NotTaken, OSError) as error:
        if isinstance(error, OSError) and error.errno not in _NOT_TAKEN:
            raise
        _say_not_taken(error)
        hush(sys.stdout)
        sys.exit(_FAILED)


def _say_not_taken(error: Exception) -> None:
    from server.cli.place import terminal_locale
    from server.messages import render

    reason = getattr(error, "strerror", None) or str(error)
    with suppress(OSError):
        print(render("cli.not_taken", terminal_locale(), reason=reason), file=sys.stderr, flush=True)
