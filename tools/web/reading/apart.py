"""Has a page read in a process of its own, for a bounded time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from pathlib import Path
from typing import Final

import tools
from tools.process import Program
from tools.web.reading import MAX_TEXT, Reading, Unreadable
from tools.web.reading.child import Kind, order, reading

TIME_S: Final = 15.0
_MAX_ANSWER: Final = MAX_TEXT * 12 + 1_000_000  # a character takes at most two escapes of six
_ROOT: Final = Path(tools.__file__).resolve().parent.parent
# The same `tools` as here, wherever it lies: a checkout isn't on the path of every Python.
_CODE: Final = (
    "import sys; root = sys.argv[1]; root in sys.path or sys.path.insert(0, root); "
    "from tools.web.reading.child import main; main()"
)
_KEPT: Final = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


async def read_apart(
    kind: Kind, body: bytes, url: str, charset: str | None = None, *, time_s: float = TIME_S
) -> Reading:
    """What the page ``body`` that lies at ``url`` says. Cancelling it ends the process.

    Raises:
        Unreadable: the page is broken, or too much for the limits.
    """
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    argv = [sys.executable, "-P", "-c", _CODE, str(_ROOT)]
    try:
        program = await Program.start(argv, env=environment, cwd=_ROOT)
    except OSError as error:
        raise Unreadable("can't be read: no process could be started") from error
    try:
        async with asyncio.timeout(time_s):
            sending = asyncio.create_task(_send(program, order(kind, url, charset), body))
            try:
                answer = await _receive(program)
            finally:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)
    except TimeoutError as error:
        raise Unreadable("took too long to read") from error
    finally:
        await program.end()
    return reading(answer)


async def _send(program: Program, head: bytes, body: bytes) -> None:
    with contextlib.suppress(OSError):  # it ended before it had read everything
        program.stdin.write(head + body)
        await program.stdin.drain()
        program.stdin.close()


async def _receive(program: Program) -> bytes:
    answer = bytearray()
    while block := await program.stdout.read(65_536):
        answer += block
        if len(answer) > _MAX_ANSWER:
            raise Unreadable("can't be read")
    return bytes(answer)
