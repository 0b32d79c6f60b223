"""A chat stream that starts before it is known whether it will be wanted.

Its events are held until somebody reads them. Nothing of it is shown before that, so that nothing
shown is ever taken back; cancelling it ends its request.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from server.models.events import ChatEvent, Finish, TextDelta
from server.models.tokens import count_tokens
from server.protocol import Usage

_END = None


class Speculation:
    """Reads ``stream`` ahead, in a task of its own."""

    def __init__(self, stream: AsyncGenerator[ChatEvent, None], estimated_prompt: int) -> None:
        self._stream = stream
        self._estimated_prompt = estimated_prompt
        self._events: asyncio.Queue[ChatEvent | BaseException | None] = asyncio.Queue()
        self._said: list[str] = []
        self._used: Usage | None = None
        self._task = asyncio.create_task(self._read_ahead(), name="speculation")

    async def events(self) -> AsyncGenerator[ChatEvent, None]:
        """What the stream gave and gives; its failure is raised where it happened."""
        try:
            while True:
                event = await self._events.get()
                if event is _END:
                    return
                if isinstance(event, BaseException):
                    raise event
                yield event
        finally:
            await self._end()

    async def discard(self) -> Usage:
        """Ends the stream unseen; the tokens that it cost, as far as that is known."""
        await self._end()
        if self._used is not None:
            return self._used
        completion = count_tokens("".join(self._said))
        return Usage(prompt=self._estimated_prompt, completion=completion)

    async def _read_ahead(self) -> None:
        try:
            async with aclosing(self._stream) as stream:
                async for event in stream:
                    if isinstance(event, TextDelta):
                        self._said.append(event.text)
                    elif isinstance(event, Finish):
                        self._used = event.usage
                    self._events.put_nowait(event)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            self._events.put_nowait(error)
        else:
            self._events.put_nowait(_END)

    async def _end(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.wait({self._task})
