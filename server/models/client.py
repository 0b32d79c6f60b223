"""The connection to one provider: made at first use, off the event loop, and closed with the hub.

``openai`` takes a second to import, so it is never imported before somebody talks to a model. Streams go
through its plain ``post``, which costs a fifth of the typed call; its own retries are off, because
:mod:`server.models.chat` knows better what is worth another try.
"""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from server.models.failure import HttpRefusal, TransportFailure
from server.models.provider import Provider

if TYPE_CHECKING:
    import httpx2
    import openai

_CONNECT_S = 10.0
_WRITE_S = 30.0
_DRAIN_S = 0.05
_KEPT_LOCAL_S = 3.0  # llama.cpp gives an idle connection up after 5 s
_KEPT_REMOTE_S = 30.0
_NO_KEY = "none"  # openai refuses an empty key; local servers ignore this one


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole HTTP answer; ``data`` is its JSON, None where it has none."""

    status: int
    data: Any
    text: str
    headers: dict[str, str]

    def refusal(self) -> HttpRefusal:
        return HttpRefusal(self.status, self.headers, self.text)


async def load_openai() -> None:
    """Imports ``openai`` without holding up the event loop."""
    await asyncio.to_thread(importlib.import_module, "openai")


class Stream:
    """The body of a chat answer, as it comes."""

    def __init__(self, stream: openai.AsyncStream[object], ended: Callable[[], None]) -> None:
        self._stream = stream
        self._ended = ended
        self._blocks: AsyncIterator[bytes] = stream.response.aiter_bytes()

    async def read(self) -> bytes | None:
        """The next bytes, None at the end.

        Raises:
            TransportFailure: the connection broke.
        """
        import httpx2

        try:
            return await anext(self._blocks)
        except StopAsyncIteration:
            return None
        except httpx2.RequestError as error:
            raise TransportFailure(timed_out=isinstance(error, httpx2.TimeoutException)) from error

    async def aclose(self, *, finished: bool) -> None:
        """Ends the request; a ``finished`` one is read out, so that its connection can be used again."""
        if finished:
            try:
                async with asyncio.timeout(_DRAIN_S):
                    while await self.read() is not None:
                        pass
            except (TimeoutError, TransportFailure):
                pass
        try:
            await self._stream.close()
        finally:
            self._ended()


class Client:
    """Talks HTTP to one provider. This machine is never reached through a proxy of the environment."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self._http: httpx2.AsyncClient | None = None
        self._openai: openai.AsyncOpenAI | None = None
        self._making = asyncio.Lock()
        self._open = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def warm(self) -> None:
        """Does ahead of the first message what only it would have to wait for."""
        await self._chat_client()

    async def post_stream(self, body: dict[str, Any]) -> Stream:
        """Asks for a streamed chat completion.

        Raises:
            HttpRefusal: the provider answered with an error status.
            TransportFailure: it didn't answer.
        """
        client = await self._chat_client()
        import openai

        with _failures():
            stream = await client.post(
                "/chat/completions",
                body=body,
                cast_to=object,
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
        self._began()
        return Stream(stream, self._ended)

    async def post(self, body: dict[str, Any]) -> object:
        """Asks for a whole chat completion; its JSON as plain values.

        Raises:
            HttpRefusal: the provider answered with an error status.
            TransportFailure: it didn't answer, or broke off.
            ValueError: its answer is no JSON.
        """
        client = await self._chat_client()
        self._began()
        try:
            with _failures():
                return await client.post("/chat/completions", body=body, cast_to=object)
        finally:
            self._ended()

    async def request(self, method: str, url: str, *, timeout_s: float, body: object = None) -> Answer:
        """One small request with an answer that is read whole.

        Raises:
            TransportFailure: no answer within ``timeout_s``.
        """
        client = await self._http_client()
        import httpx2

        key = self.provider.key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            async with asyncio.timeout(timeout_s):
                answer = await client.request(method, url, json=body, headers=headers)
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise TransportFailure(timed_out=True) from error
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            raise TransportFailure from error
        try:
            data = answer.json()
        except (ValueError, RecursionError):
            data = None
        told = {name.lower(): value for name, value in answer.headers.items()}
        return Answer(answer.status_code, data, answer.text, told)

    async def aclose(self) -> None:
        """Closes all connections; a stream that still runs breaks off."""
        if self._http is not None:
            await self._http.aclose()

    async def retire(self) -> None:
        """Closes once the requests that still run have ended."""
        await self._idle.wait()
        await self.aclose()

    def _began(self) -> None:
        self._open += 1
        self._idle.clear()

    def _ended(self) -> None:
        self._open -= 1
        if self._open == 0:
            self._idle.set()

    async def _http_client(self) -> httpx2.AsyncClient:
        async with self._making:
            if self._http is None:
                self._http = await asyncio.to_thread(self._make_http)
            return self._http

    async def _chat_client(self) -> openai.AsyncOpenAI:
        if self._openai is None:
            http = await self._http_client()
            async with self._making:
                if self._openai is None:
                    await load_openai()
                    self._openai = await asyncio.to_thread(self._make_openai, http)
        return self._openai

    def _make_http(self) -> httpx2.AsyncClient:
        import httpx2

        local = self.provider.local
        plain = local and self.provider.base_url.startswith("http:")
        return httpx2.AsyncClient(
            trust_env=not local,
            follow_redirects=not local,
            verify=not plain,  # where no TLS can come up, its certificates (0.1 s) aren't loaded
            timeout=httpx2.Timeout(connect=_CONNECT_S, read=None, write=_WRITE_S, pool=_CONNECT_S),
            limits=httpx2.Limits(
                max_connections=1000,
                max_keepalive_connections=100,
                keepalive_expiry=_KEPT_LOCAL_S if local else _KEPT_REMOTE_S,
            ),
        )

    def _make_openai(self, http: httpx2.AsyncClient) -> openai.AsyncOpenAI:
        import openai

        key = self.provider.key or _NO_KEY
        headers: Any = {name: openai.Omit() for name in _foreign_headers()}
        headers["Authorization"] = f"Bearer {key}"
        return openai.AsyncOpenAI(
            base_url=self.provider.base_url,
            api_key=key,
            http_client=http,
            max_retries=0,
            timeout=http.timeout,
            default_headers=headers,
        )


@contextmanager
def _failures() -> Iterator[None]:
    """Says in this package's words how a request failed."""
    import httpx2
    import openai

    try:
        yield
    except openai.APIStatusError as error:
        headers = {name.lower(): value for name, value in error.response.headers.items()}
        raise HttpRefusal(error.status_code, headers, error.response.text) from None
    except openai.APITimeoutError as error:
        raise TransportFailure(timed_out=True) from error
    except openai.OpenAIError as error:
        broke_off = isinstance(
            error.__cause__, httpx2.RemoteProtocolError | httpx2.ReadError | httpx2.WriteError
        )
        raise TransportFailure(broke_off=broke_off) from error


def _foreign_headers() -> list[str]:
    """Headers that ``openai`` would take from its own environment variables: meant for OpenAI's account, they
    must not reach another provider."""
    custom = os.environ.get("OPENAI_CUSTOM_HEADERS", "")
    names = [line.partition(":")[0].strip() for line in custom.split("\n") if ":" in line]
    return [
        "OpenAI-Organization",
        "OpenAI-Project",
        *(name for name in names if name.lower() != "authorization"),
    ]
