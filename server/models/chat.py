"""One streamed chat request, from its body to its events, with the remedies that a refusal suggests.

Before anything was said, a request is sent again without a parameter that was refused, and once more after a
failure that passes. From the first event on, every failure is ``stream_interrupted``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from server.errors import PetError
from server.models.chunks import ChunkReader, ErrorInStream
from server.models.client import Client, Stream
from server.models.events import ChatEvent, Finish
from server.models.failure import (
    Asked,
    HttpRefusal,
    TransportFailure,
    interrupted,
    reported_in_stream,
    stalled,
    status_failure,
    unreachable,
    unreadable,
)
from server.models.messages import refused_option, request_body
from server.models.profile import Memory, Option
from server.models.sse import EventLines
from server.models.tokens import count_prompt

PASSING = frozenset({408, 429, 500, 502, 503, 504, 529})


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long, in seconds.

    Attributes:
        retries: further tries after a failure that passes.
        pause_s: before such a try, where the provider names no time.
        longest_pause_s: a provider that asks for more is not waited for.
        idle_s: between two pieces of a reply.
        answer_s: for an answer that is read whole.
    """

    retries: int = 1
    pause_s: float = 0.7
    longest_pause_s: float = 4.0
    idle_s: float = 60.0
    answer_s: float = 90.0


class _Stalled(Exception):
    pass


async def stream_chat(
    client: Client,
    asked: Asked,
    memory: Memory,
    messages: Sequence[Mapping[str, Any]],
    *,
    temperature: float,
    patience: Patience,
) -> AsyncGenerator[ChatEvent]:
    """The events of the model's reply; :class:`Finish` is the last. Closing it aborts the request.

    Raises:
        PetError: any of the ``provider_*`` codes, ``needs_model`` (no such model), ``context_overflow``, or
            ``stream_interrupted``.
    """
    tries = Tries(patience)
    while True:
        stream = await _open(client, asked, memory, messages, temperature, tries)
        reader = ChunkReader()
        shown = False
        try:
            async with aclosing(_batches(stream, reader, patience.idle_s)) as batches:
                async for events in batches:
                    for event in events:
                        shown = True
                        yield event
        except ErrorInStream as told:
            raise reported_in_stream(asked, told.body, shown=shown) from None
        except _Stalled:
            raise stalled(asked, patience.idle_s) from None
        except ValueError:
            raise (interrupted(asked) if shown else unreadable(asked)) from None
        except TransportFailure:
            if not reader.ended:
                if shown:
                    raise interrupted(asked) from None
                await tries.again(interrupted(asked))
                continue
        if not reader.ended:
            if shown or reader.recognised:
                raise interrupted(asked)
            raise unreadable(asked)
        memory.learn(
            streaming_usage=True if reader.usage else None,
            reasoning_field=reader.reasoning_field,
        )
        yield Finish(reader.finish_reason or "stop", reader.usage, count_prompt(messages))
        return


async def _open(
    client: Client,
    asked: Asked,
    memory: Memory,
    messages: Sequence[Mapping[str, Any]],
    temperature: float,
    tries: Tries,
) -> Stream:
    """Asks until the provider begins to answer."""
    known = memory.profile.refused
    refused: list[Option] = []
    while True:
        without = [*known, *refused]
        body = request_body(asked.model, messages, temperature=temperature, without=without)
        try:
            stream = await client.post_stream(body)
        except HttpRefusal as refusal:
            option = refused_option(refusal, body, without)
            if option is not None:
                refused.append(option)
                continue
            error = status_failure(asked, refusal)
            if refusal.status not in PASSING or not error.retryable:
                raise error from None
            await tries.again(error)
        except TransportFailure as failure:
            error = unreachable(asked, failure)
            if asked.provider.local and not failure.broke_off:
                raise error from failure
            await tries.again(error)
        else:
            for option in refused:
                memory.refuse(option)
            return stream


async def _batches(stream: Stream, reader: ChunkReader, idle_s: float) -> AsyncGenerator[list[ChatEvent]]:
    """The events of each piece of the body. Only a real piece of the reply ends the idle time."""
    lines = EventLines()
    clock = asyncio.get_running_loop().time
    deadline: float | None = None
    try:
        while not reader.done:
            try:
                async with asyncio.timeout_at(deadline):
                    block = await stream.read()
            except TimeoutError:
                raise _Stalled from None
            events: list[ChatEvent] = []
            try:
                for payload in lines.close() if block is None else lines.feed(block):
                    events += reader.read(payload)
            except ErrorInStream:
                if events:
                    yield events
                raise
            if events:
                yield events
                deadline = clock() + idle_s
            if block is None:
                return
    finally:
        await stream.aclose(finished=reader.done)


class Tries:
    """Counts the tries of one request."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._left = patience.retries

    async def again(self, error: PetError) -> None:
        """Pauses before the next try, or raises ``error`` where there is none."""
        pause = self._patience.pause_s if error.retry_after_s is None else error.retry_after_s
        if self._left <= 0 or pause > self._patience.longest_pause_s:
            raise error
        self._left -= 1
        await asyncio.sleep(pause)
