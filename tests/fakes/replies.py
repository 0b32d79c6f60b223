"""What a scripted provider can answer, one small class a behaviour.

A reply plays itself onto an :class:`Exchange`. Streams are made of parts: a string is a content delta,
``Think`` a delta of the reasoning field, ``Pause`` waits until the test calls ``release()``, a dict is sent
as it is, ``Raw`` is a line that needn't be JSON.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


class Exchange(Protocol):
    """One chat request and the open connection it came by."""

    @property
    def body(self) -> dict[str, Any]: ...

    async def respond(self, status: int, body: object, headers: Mapping[str, str] | None = None) -> None:
        """A whole answer: ``body`` is JSON, or text when it is a string."""

    async def start_stream(self) -> None: ...

    async def line(self, text: str) -> None:
        """One line of the event stream, with the blank line after it."""

    async def end_stream(self) -> None: ...

    async def pause(self) -> None:
        """Waits for the test's ``release()``."""

    async def drop(self, *, reset: bool) -> None:
        """Closes the connection in the middle of whatever is being sent."""


class Pause:
    """Waits for ``release()`` before the next part."""


@dataclass(frozen=True)
class Think:
    text: str


@dataclass(frozen=True)
class Raw:
    line: str


Part = str | Think | Pause | Raw | dict[str, Any]


class Scripted:
    """A reply of the script."""

    async def play(self, exchange: Exchange) -> None:
        raise NotImplementedError


class Reply(Scripted):
    """A stream (or a whole completion, when no stream was asked for).

    Args:
        parts: what is sent, in order.
        finish: the finish reason; None leaves it out.
        usage: ``(prompt, completion)`` tokens; None counts characters; False sends none although asked.
        done: whether ``[DONE]`` ends the stream.
        reasoning_field: the field that ``Think`` parts come in.
        tool_calls: the calls of the message, as a provider sends them.
    """

    def __init__(
        self,
        *parts: Part,
        finish: str | None = "stop",
        usage: tuple[int, int] | bool | None = None,
        done: bool = True,
        reasoning_field: str = "reasoning_content",
        tool_calls: list[dict[str, Any]] | None = None,
    ) -> None:
        self.parts = parts
        self.finish = finish
        self.usage = usage
        self.done = done
        self.reasoning_field = reasoning_field
        self.tool_calls = tool_calls

    async def play(self, exchange: Exchange) -> None:
        if exchange.body.get("stream"):
            await exchange.start_stream()
            async for line in self.lines(exchange):
                await exchange.line(line)
            await exchange.end_stream()
        else:
            await exchange.respond(200, await self.completion(exchange))

    async def lines(self, exchange: Exchange) -> AsyncIterator[str]:
        yield data(chunk(exchange.body, {"role": "assistant", "content": ""}))
        for part in self.parts:
            if isinstance(part, Pause):
                await exchange.pause()
            elif isinstance(part, Raw):
                yield part.line
            elif isinstance(part, Think):
                yield data(chunk(exchange.body, {self.reasoning_field: part.text}))
            elif isinstance(part, str):
                yield data(chunk(exchange.body, {"content": part}))
            else:
                yield data(part)
        if self.tool_calls:
            calls = [{"index": index, **call} for index, call in enumerate(self.tool_calls)]
            yield data(chunk(exchange.body, {"tool_calls": calls}))
        if self.finish is not None:
            yield data(chunk(exchange.body, {}, self.finish))
        wants_usage = (exchange.body.get("stream_options") or {}).get("include_usage")
        if wants_usage and self.usage is not False:
            yield data({**chunk(exchange.body, {}), "choices": [], "usage": self.count(exchange.body)})
        if self.done:
            yield "data: [DONE]"

    async def completion(self, exchange: Exchange) -> dict[str, Any]:
        for part in self.parts:
            if isinstance(part, Pause):
                await exchange.pause()
        text = "".join(part for part in self.parts if isinstance(part, str))
        thought = "".join(part.text for part in self.parts if isinstance(part, Think))
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if thought:
            message[self.reasoning_field] = thought
        if self.tool_calls:
            message["tool_calls"] = self.tool_calls
        answer = chunk(exchange.body, {})
        answer["object"] = "chat.completion"
        answer["choices"] = [{"index": 0, "message": message, "finish_reason": self.finish}]
        if self.usage is not False:
            answer["usage"] = self.count(exchange.body)
        return answer

    def count(self, body: dict[str, Any]) -> dict[str, int]:
        if isinstance(self.usage, tuple):
            prompt, completion = self.usage
        else:
            prompt = sum(len(str(message.get("content"))) for message in body.get("messages", ())) // 4
            completion = sum(1 for part in self.parts if isinstance(part, (str, Think)))
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }


class Empty(Reply):
    """A stream that ends normally and said nothing."""

    def __init__(self) -> None:
        super().__init__()


class ThinkOnly(Reply):
    """A stream of reasoning and no reply; ``tags`` sends it as ``<think>`` text."""

    def __init__(self, text: str = "Let me think about that.", *, tags: bool = False) -> None:
        super().__init__(*(("<think>", text, "</think>") if tags else (Think(text),)))


class Garbage(Reply):
    """A stream with lines that are no JSON, JSON that is no chunk, and good deltas between them."""

    def __init__(self, *good: str) -> None:
        parts: list[Part] = [Raw("data: {not json"), Raw(": a comment"), Raw("event: nonsense\ndata: 17")]
        for text in good:
            parts += [text, Raw('data: {"choices": "none"}'), Raw("data: \ufffd\u0000")]
        super().__init__(*parts)


class StreamError(Reply):
    """An error object inside the stream, after ``parts``, with HTTP 200."""

    def __init__(self, *parts: Part, error: dict[str, Any] | str | None = None) -> None:
        told = {"message": "The server had an error", "type": "server_error"} if error is None else error
        super().__init__(*parts, {"error": told}, finish=None, done=False)


@dataclass
class DropAfter(Scripted):
    """Breaks the connection off after ``count`` content deltas, without an end; ``before_headers`` answers
    nothing at all."""

    count: int
    text: str = "word "
    reset: bool = False
    before_headers: bool = False

    async def play(self, exchange: Exchange) -> None:
        if self.before_headers:
            await exchange.drop(reset=self.reset)
            return
        await exchange.start_stream()
        for _ in range(self.count):
            await exchange.line(data(chunk(exchange.body, {"content": self.text})))
        await exchange.drop(reset=self.reset)


@dataclass
class Hang(Scripted):
    """Answers nothing until ``release()``: before the headers, or after them and before the first token."""

    before_headers: bool = True
    then: Scripted = field(default_factory=Empty)

    async def play(self, exchange: Exchange) -> None:
        if self.before_headers:
            await exchange.pause()
            await self.then.play(exchange)
        else:
            then = self.then if isinstance(self.then, Reply) else Empty()
            parts = (Pause(), *then.parts)
            await Reply(*parts, finish=then.finish, usage=then.usage, done=then.done).play(exchange)


class Status(Scripted):
    """An HTTP error. ``retry_after`` becomes the header (seconds, or a date as text)."""

    def __init__(
        self,
        status: int,
        body: object = None,
        *,
        retry_after: float | str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status = status
        self.body = body
        self.headers = dict(headers or {})
        if retry_after is not None:
            self.headers["Retry-After"] = str(retry_after)

    async def play(self, exchange: Exchange) -> None:
        body = {"error": {"message": f"scripted {self.status}"}} if self.body is None else self.body
        await exchange.respond(self.status, body, self.headers)


class Paced(Scripted):
    """``count`` deltas, ``interval_s`` apart: for benches and manual use, not for tests."""

    def __init__(self, count: int, interval_s: float = 0.0, text: str = "word ") -> None:
        self.count = count
        self.interval_s = interval_s
        self.text = text

    async def play(self, exchange: Exchange) -> None:
        plain = Reply(*([self.text] * self.count))
        if not exchange.body.get("stream"):
            await plain.play(exchange)
            return
        await exchange.start_stream()
        async for line in plain.lines(exchange):
            await exchange.line(line)
            if self.interval_s:
                await asyncio.sleep(self.interval_s)
        await exchange.end_stream()


def chunk(body: dict[str, Any], delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """One ``chat.completion.chunk``."""
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": body.get("model", ""),
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def data(value: object) -> str:
    """A line of the event stream that carries ``value``; halves of characters stay escapes."""
    text = json.dumps(value, ensure_ascii=False)
    return "data: " + (
        text if text.isascii() or text == text.encode(errors="replace").decode() else json.dumps(value)
    )
