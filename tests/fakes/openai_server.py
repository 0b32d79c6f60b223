"""A scripted, fault-injecting OpenAI-compatible provider on a real socket.

    async with ScriptedProvider() as provider:
        provider.script(Reply("Hello ", Pause(), "there"), Status(429, retry_after=7), Hang())
        ...  # point an LLM provider at provider.base_url
        request = await provider.request_received()
        await provider.paused()
        provider.release()

Chat requests take the script's replies in order, then ``provider.default``. Nothing here sleeps: a test waits
for ``request_received()``, ``paused()`` and ``client_gone()``.
``python -m tests.fakes.openai_server --port N`` runs one by hand and prints its address.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import socket
import struct
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

from tests.fakes.replies import (
    DropAfter,
    Empty,
    Garbage,
    Hang,
    Paced,
    Pause,
    Raw,
    Reply,
    Scripted,
    Status,
    StreamError,
    Think,
    ThinkOnly,
)

__all__ = [
    "DropAfter",
    "Empty",
    "Garbage",
    "Hang",
    "Paced",
    "Pause",
    "Raw",
    "Reply",
    "Request",
    "Scripted",
    "ScriptedProvider",
    "Status",
    "StreamError",
    "Think",
    "ThinkOnly",
]

Route = Callable[["Request"], Scripted]


@dataclass(frozen=True)
class Request:
    """One request as it came: header names are lower case; ``body`` is the JSON object, or empty."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class ScriptedProvider:
    """The server. All attributes may be changed while it runs.

    Args:
        models: the model list: ids, or whole entries.
        prefix: where the API lives.
        api_key: refused with 401 unless this one comes; None takes any.
        port: 0 takes a free one.
    """

    def __init__(
        self,
        *,
        models: list[str | dict[str, Any]] | None = None,
        prefix: str = "/v1",
        api_key: str | None = None,
        port: int = 0,
    ) -> None:
        self.models: list[str | dict[str, Any]] = ["scripted-chat"] if models is None else models
        self.prefix = prefix
        self.api_key = api_key
        self.default: Scripted = Reply("Hello ", "there", ".")
        self.refuses: set[str] = set()  # body fields ("temperature"), or "system" for the role
        self.unknown_models_are_404 = False
        self.requests: list[Request] = []  # of chat completions
        self.probes: list[Request] = []  # all others
        self.connections = 0
        self.port = port
        self._script: deque[Scripted] = deque()
        self._routes: dict[tuple[str, str], Route] = {}
        self._received: asyncio.Queue[Request] = asyncio.Queue()
        self._abandoned = asyncio.Semaphore(0)
        self._paused = asyncio.Semaphore(0)
        self._released = asyncio.Semaphore(0)
        self._handlers: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    # --- what a test does -------------------------------------------------------------------

    @property
    def root_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return self.root_url + self.prefix

    def script(self, *replies: Scripted) -> None:
        """The next chat requests get these, in order."""
        self._script.extend(replies)

    def route(self, method: str, path: str, answer: Scripted | Route | dict[str, Any] | list[Any]) -> None:
        """A further route (Ollama's ``/api/show``…): a JSON body, a reply, or a function of the request."""
        if isinstance(answer, (dict, list)):
            answer = Status(200, answer)
        if isinstance(answer, Scripted):
            reply = answer
            self._routes[method, path] = lambda _request: reply
        else:
            self._routes[method, path] = answer

    async def request_received(self) -> Request:
        """The next chat request that no other call of this has returned."""
        return await self._received.get()

    async def paused(self) -> None:
        """Waits until a reply waits for ``release()``; once for each time."""
        await self._paused.acquire()

    def release(self, times: int = 1) -> None:
        """Lets ``times`` waiting (or coming) pauses go on."""
        for _ in range(times):
            self._released.release()

    async def client_gone(self) -> None:
        """Waits until a client broke off a chat request before its reply ended; once for each time."""
        await self._abandoned.acquire()

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connection, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stops listening and breaks all connections; ``start()`` takes the same port again."""
        if self._server is None:
            return
        self._server.close()
        for task in list(self._handlers):
            task.cancel()
        for writer in list(self._writers):
            writer.transport.abort()
        await asyncio.gather(*self._handlers, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    # --- the socket's side ------------------------------------------------------------------

    def _connection(self) -> _Connection:
        self.connections += 1
        reader = asyncio.StreamReader()
        return _Connection(reader, self._serve)

    def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._requests(reader, writer))
        self._handlers.add(task)
        task.add_done_callback(self._handlers.discard)

    async def _requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while (request := await _read(reader)) is not None:
                exchange = _Exchange(request, writer, self)
                await self._answer(request, exchange)
                if writer.transport.is_closing():
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, request: Request, exchange: _Exchange) -> None:
        if (route := self._routes.get((request.method, request.path))) is not None:
            self.probes.append(request)
            await route(request).play(exchange)
        elif (request.method, request.path) == ("POST", self.prefix + "/chat/completions"):
            self.requests.append(request)
            reply = self._refusal(request)
            if reply is None:
                reply = self._script.popleft() if self._script else self.default
            self._received.put_nowait(request)
            await self._play(reply, exchange)
        else:
            self.probes.append(request)
            await self._other(request).play(exchange)

    async def _play(self, reply: Scripted, exchange: _Exchange) -> None:
        playing = asyncio.ensure_future(reply.play(exchange))
        gone = asyncio.ensure_future(exchange.gone.wait())
        try:
            await asyncio.wait({playing, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not playing.done() or isinstance(playing.exception(), ConnectionError):
                self._abandoned.release()
            else:
                playing.result()
        finally:
            for task in (playing, gone):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                    await task

    def _refusal(self, request: Request) -> Scripted | None:
        if self._unauthorised(request):
            return _error(401, "Incorrect API key provided.", "invalid_api_key")
        body = request.body
        for name in sorted(self.refuses):
            if name == "system":
                if any(message.get("role") == "system" for message in body.get("messages", ())):
                    return _error(400, "System role not supported", None)
            elif name in body:
                told = f"Unsupported parameter: '{name}' is not supported with this model."
                return _error(400, told, "unsupported_parameter", param=name)
        if self.unknown_models_are_404 and body.get("model") not in self._model_ids():
            return _error(404, f"model '{body.get('model')}' not found", "model_not_found")
        return None

    def _other(self, request: Request) -> Scripted:
        if (request.method, request.path) != ("GET", self.prefix + "/models"):
            return Status(404, "404 page not found")
        if self._unauthorised(request):
            return _error(401, "Incorrect API key provided.", "invalid_api_key")
        entries = [model if isinstance(model, dict) else {"id": model} for model in self.models]
        return Status(200, {"object": "list", "data": [{"object": "model", **entry} for entry in entries]})

    def _unauthorised(self, request: Request) -> bool:
        return self.api_key is not None and request.headers.get("authorization") != f"Bearer {self.api_key}"

    def _model_ids(self) -> list[str]:
        return [model if isinstance(model, str) else model["id"] for model in self.models]

    async def pause(self) -> None:
        self._paused.release()
        await self._released.acquire()


class _Connection(asyncio.StreamReaderProtocol):
    """Notices at once when the client closes its side, which plain asyncio streams don't tell."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        connected: Callable[[asyncio.StreamReader, asyncio.StreamWriter], None],
    ) -> None:
        super().__init__(reader, connected)
        self.gone = asyncio.Event()

    def eof_received(self) -> bool | None:
        self.gone.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        super().connection_lost(exc)


class _Exchange:
    def __init__(self, request: Request, writer: asyncio.StreamWriter, server: ScriptedProvider) -> None:
        self.body = request.body
        self._writer = writer
        self._server = server
        protocol = writer.transport.get_protocol()
        assert isinstance(protocol, _Connection)
        self.gone = protocol.gone

    async def respond(self, status: int, body: object, headers: Mapping[str, str] | None = None) -> None:
        text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
        kind = "text/plain" if isinstance(body, str) else "application/json"
        payload = text.encode()
        all_headers = {"Content-Type": kind, "Content-Length": str(len(payload)), **(headers or {})}
        await self._send(_head(status, all_headers) + payload)

    async def start_stream(self) -> None:
        headers = {"Content-Type": "text/event-stream; charset=utf-8", "Transfer-Encoding": "chunked"}
        await self._send(_head(200, headers))

    async def line(self, text: str) -> None:
        payload = (text + "\n\n").encode()
        await self._send(b"%x\r\n%b\r\n" % (len(payload), payload))

    async def end_stream(self) -> None:
        await self._send(b"0\r\n\r\n")

    async def pause(self) -> None:
        await self._server.pause()

    async def drop(self, *, reset: bool) -> None:
        transport = self._writer.transport
        if reset:
            linger = struct.pack("ii" if hasattr(socket, "AF_UNIX") else "hh", 1, 0)
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            transport.abort()
        else:
            self._writer.close()

    async def _send(self, payload: bytes) -> None:
        self._writer.write(payload)
        await self._writer.drain()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _version = first.split(" ", 2)
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    body = json.loads(raw) if raw else {}
    return Request(method, path, headers, body if isinstance(body, dict) else {})


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Unknown"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _error(status: int, message: str, code: str | None, param: str | None = None) -> Status:
    told = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return Status(status, {"error": told})


async def _run(port: int, deltas: int, interval_ms: float) -> None:
    async with ScriptedProvider(port=port) as provider:
        provider.default = Paced(deltas, interval_ms / 1000)
        print(provider.base_url, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="A scripted OpenAI-compatible provider.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--deltas", type=int, default=20)
    parser.add_argument("--interval-ms", type=float, default=30.0)
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_run(options.port, options.deltas, options.interval_ms))


if __name__ == "__main__":
    main()
