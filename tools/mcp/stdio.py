"""The stdio transport: a started program whose stdin and stdout carry the messages, a line each.

The library's own one keeps no stderr, reads lines of any length, inherits more of the environment, and takes
up to six seconds to end a server.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from types import TracebackType
from typing import TYPE_CHECKING, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

from server.masking import last_words
from tools.mcp.launch import Launch
from tools.mcp.lines import LineSplitter, TooLong
from tools.mcp.reason import MAX_SAID, Down, Reason
from tools.process import Program

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

MAX_MESSAGE_BYTES: Final = 16 * 1024 * 1024
_CHUNK: Final = 1 << 16
_TAIL_BYTES: Final = 4 * MAX_SAID
_DRAIN_S: Final = 0.2
_MEGABYTE: Final = 1024 * 1024

Incoming = MemoryObjectSendStream[SessionMessage | Exception]


class StdioTransport:
    """A transport for :class:`mcp.Client`; ``async with`` gives its two streams.

    Attributes:
        died: set when no message can come any more.
    """

    def __init__(self, launch: Launch) -> None:
        self.died = asyncio.Event()
        self._launch = launch
        self._program: Program | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._said = bytearray()

    @property
    def exit_code(self) -> int | None:
        return self._program.exit_code if self._program else None

    @property
    def pid(self) -> int | None:
        return self._program.pid if self._program else None

    async def exited(self) -> None:
        """Returns when the program has ended."""
        if self._program is not None:
            await self._program.exited.wait()

    def last_words(self) -> str:
        """The end of what it wrote to stderr, and to stdout besides messages; fit to be shown."""
        return last_words(self._said.decode("utf-8", "replace"), MAX_SAID, *self._launch.secrets)

    async def __aenter__(self) -> TransportStreams:
        """Starts the program.

        Raises:
            Down: it can't be started.
        """
        launch = self._launch
        try:
            program = await Program.start(launch.argv, env=launch.env, cwd=launch.cwd)
        except (OSError, ValueError) as error:
            detail = getattr(error, "strerror", None) or type(error).__name__
            name = launch.argv[0].replace("\\", "/").rsplit("/", 1)[-1]
            raise Down(Reason("mcp.cannot_start", {"command": name, "detail": detail})) from None
        self._program = program
        arrived, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        # Never full: a server that doesn't read can't hold up who calls or cancels.
        outgoing, to_send = anyio.create_memory_object_stream[SessionMessage](math.inf)
        reading = asyncio.create_task(self._read(program, arrived))
        self._tasks = [
            reading,
            asyncio.create_task(self._write(program, to_send, arrived)),
            asyncio.create_task(self._keep_said(program)),
            asyncio.create_task(self._watch(program, reading)),
        ]
        return incoming, outgoing

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if self._program is not None:
                await self._program.end()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read(self, program: Program, arrived: Incoming) -> None:
        """Reads to the end even when nobody listens: a full pipe would keep the program from ending."""
        splitter = LineSplitter(MAX_MESSAGE_BYTES)
        try:
            while chunk := await program.stdout.read(_CHUNK):
                for line in splitter.feed(chunk):
                    message = self._message(line)
                    if message is not None:
                        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                            await arrived.send(message)
        except ConnectionError:
            pass
        finally:
            self.died.set()
            arrived.close()

    def _message(self, line: bytes | TooLong) -> SessionMessage | None:
        """None for what is no message: such lines count as something that the program said."""
        if isinstance(line, TooLong):
            return self._refusal(line)
        if not line.strip():
            return None
        try:
            # Text that isn't UTF-8 costs its wrong bytes, not the whole answer.
            text = line.decode("utf-8", "replace")
            return SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
        except ValueError:
            self._hear(line[:_TAIL_BYTES] + b"\n")
            return None

    def _refusal(self, line: TooLong) -> SessionMessage | None:
        asked = line.answers()
        if asked is None:
            self._hear(b"(a message that is too long)\n")
            return None
        error = ErrorData(
            code=INTERNAL_ERROR,
            message=f"The answer was larger than {MAX_MESSAGE_BYTES // _MEGABYTE} MB. Ask for less.",
        )
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=asked, error=error))

    async def _write(
        self, program: Program, to_send: MemoryObjectReceiveStream[SessionMessage], arrived: Incoming
    ) -> None:
        async with to_send:
            try:
                async for outgoing in to_send:
                    text = outgoing.message.model_dump_json(by_alias=True, exclude_unset=True)
                    program.stdin.write(text.encode() + b"\n")
                    await program.stdin.drain()
            except (OSError, RuntimeError):  # its stdin is closed: it may live, but hears nothing any more
                self.died.set()
                arrived.close()

    async def _keep_said(self, program: Program) -> None:
        with contextlib.suppress(ConnectionError):
            while chunk := await program.stderr.read(_CHUNK):
                self._hear(chunk)

    async def _watch(self, program: Program, reading: asyncio.Task[None]) -> None:
        """Something that the program started may hold its stdout open after its end."""
        await program.exited.wait()
        await asyncio.wait({reading}, timeout=_DRAIN_S)
        reading.cancel()

    def _hear(self, said: bytes) -> None:
        self._said += said[-_TAIL_BYTES:]
        del self._said[:-_TAIL_BYTES]
