"""One GET after another until a page answers, each through borders that fail closed.

No cookies, no credentials, no `Referer`: each request says only what is asked for and who asks. Redirects are
followed by hand, because each hop is a request of its own to a place of its own.
"""

from __future__ import annotations

import asyncio
import ssl
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import httpcore2

from server import __version__
from tools.contract import ToolFailure
from tools.web.address import BadAddress, join, target_of
from tools.web.decode import Broken, Unpacker
from tools.web.dial import CheckedBackend, Dial, Resolve, dial, look_up
from tools.web.networks import Borders, Refused

PRODUCT: Final = "pet_mode"
USER_AGENT: Final = f"{PRODUCT}/{__version__} (desktop companion; reads a page that its user asks about)"
MAX_REDIRECTS: Final = 5
MAX_BYTES: Final = 5_000_000
CONNECT_S: Final = 4.0
IDLE_S: Final = 6.0
TOTAL_S: Final = 25.0
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_PROXY_SCHEMES: Final = ("http", "https", "all")

BeforeHop = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Download:
    """What the last hop answered.

    Attributes:
        url: of the last hop, normalised.
        body: unpacked; "" when only the head was wanted.
        cut: whether the body was longer.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    cut: bool

    @property
    def media_type(self) -> str:
        """``text/html``, in lower case; "" when it isn't said."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str | None:
        for part in self.headers.get("content-type", "").split(";")[1:]:
            name, _, value = part.partition("=")
            if name.strip().lower() == "charset" and value.strip():
                return value.strip()
        return None


Wanted = Callable[[Download], bool]
"""Says by the head of an answer (its body is still empty) whether its body is worth reading."""


class Downloader:
    """Args:
    borders: gives what may be reached at this moment.
    resolve, connect: how names are looked up and addresses are connected to.
    trusted: for TLS; what the system trusts when None.
    proxies: as :func:`urllib.request.getproxies`.
    """

    def __init__(
        self,
        borders: Callable[[], Borders],
        *,
        resolve: Resolve = look_up,
        connect: Dial = dial,
        trusted: ssl.SSLContext | None = None,
        proxies: Callable[[], Mapping[str, str]] = urllib.request.getproxies,
        total_s: float = TOTAL_S,
        idle_s: float = IDLE_S,
    ) -> None:
        self._borders = borders
        self._resolve = resolve
        self._connect = connect
        self._trusted = trusted
        self._proxies = proxies
        self._total_s = total_s
        self._idle_s = idle_s

    async def get(
        self,
        url: str,
        *,
        accept: str = "*/*",
        max_bytes: int = MAX_BYTES,
        before_hop: BeforeHop | None = None,
        wanted: Wanted = lambda _: True,
    ) -> Download:
        """What ``url`` (normalised) answers after its redirects, of whatever status.

        Args:
            before_hop: is asked before each request; it raises where there shall be none.

        Raises:
            ToolFailure: a place that must not be reached, none that answers, too many redirects, nonsense.
        """
        try:
            async with asyncio.timeout(self._total_s):
                return await self._hops(url, accept, max_bytes, before_hop, wanted)
        except TimeoutError as error:
            host = target_of(url).host
            raise ToolFailure(f"{host} took longer than {self._total_s:g} s and was given up.") from error

    async def _hops(
        self, url: str, accept: str, max_bytes: int, before_hop: BeforeHop | None, wanted: Wanted
    ) -> Download:
        seen = [url]
        while True:
            if before_hop is not None:
                await before_hop(url)
            answer = await self._request(url, accept, max_bytes, wanted)
            location = answer.headers.get("location")
            if answer.status not in _REDIRECTS or location is None:
                return answer
            host = target_of(url).host
            try:
                url = join(url, location)
            except BadAddress as error:
                raise ToolFailure(
                    f"{host} redirects to an address that can't be fetched: {error}."
                ) from error
            if url in seen:
                raise ToolFailure(f"{host} redirects in a circle; it may want cookies, which are never sent.")
            if len(seen) > MAX_REDIRECTS:
                raise ToolFailure(f"{host} redirects more than {MAX_REDIRECTS} times.")
            seen.append(url)

    async def _request(self, url: str, accept: str, max_bytes: int, wanted: Wanted) -> Download:
        host = target_of(url).host
        try:
            async with self._opened(url, accept) as response:
                head = Download(url, response.status, _headers(response.headers), b"", cut=False)
                if head.status in _REDIRECTS or not wanted(head):
                    return head
                body, cut = await _body(response, head, max_bytes)
                return Download(head.url, head.status, head.headers, body, cut)
        except Refused as error:
            raise ToolFailure(str(error)) from error
        except Broken as error:
            raise ToolFailure(f"{host} sent a body that can't be unpacked: {error}.") from error
        except httpcore2.ConnectTimeout as error:
            raise ToolFailure(f"{host} can't be reached: no connection within {CONNECT_S:g} s.") from error
        except httpcore2.TimeoutException as error:
            raise ToolFailure(f"{host} didn't answer within {self._idle_s:g} s.") from error
        except httpcore2.ConnectError as error:
            raise ToolFailure(f"{host} can't be reached: {_reason(error)}.") from error
        except httpcore2.NetworkError as error:
            raise ToolFailure(f"{host} broke the connection off.") from error
        except httpcore2.ProtocolError as error:
            raise ToolFailure(f"{host} doesn't speak proper HTTP.") from error

    @asynccontextmanager
    async def _opened(self, url: str, accept: str) -> AsyncIterator[httpcore2.Response]:
        target = target_of(url)
        path = url.removeprefix(target.origin)
        backend = CheckedBackend(
            self._borders(),
            target.scheme,
            proxies=_usable(self._proxies()),
            passed_by=_passed_by,
            resolve=self._resolve,
            connect=self._connect,
        )
        request = httpcore2.Request(
            "GET",
            httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=path),
            headers=[
                ("Host", target.origin.partition("://")[2]),
                ("User-Agent", USER_AGENT),
                ("Accept", accept),
                ("Accept-Language", "en, zh;q=0.9, *;q=0.5"),
                ("Accept-Encoding", "gzip, deflate"),
                ("Connection", "close"),
            ],
            extensions={"timeout": {"connect": CONNECT_S, "read": self._idle_s, "write": self._idle_s}},
        )
        if target.scheme == "https" and self._trusted is None:
            self._trusted = await asyncio.to_thread(httpcore2.default_ssl_context)
        async with httpcore2.AsyncConnectionPool(
            ssl_context=self._trusted, max_connections=1, max_keepalive_connections=0, network_backend=backend
        ) as pool:
            response = await pool.handle_async_request(request)
            try:
                yield response
            finally:
                await response.aclose()


async def _body(response: httpcore2.Response, head: Download, max_bytes: int) -> tuple[bytes, bool]:
    """The unpacked body, and whether it was cut. Neither what is read nor what is kept is longer than
    ``max_bytes``, but for one block."""
    unpacker = Unpacker(head.headers.get("content-encoding", ""))
    body = bytearray()
    read = 0
    async for block in response.aiter_stream():
        read += len(block)
        body += unpacker.feed(block, max_bytes + 1 - len(body))
        if len(body) > max_bytes or read > max_bytes:
            return bytes(body[:max_bytes]), True
    return bytes(body), False


def _headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """The first of each name."""
    headers: dict[str, str] = {}
    for name, value in raw:
        headers.setdefault(name.decode("latin-1").lower(), _header_text(value))
    return headers


def _header_text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _reason(error: BaseException) -> str:
    """Why no connection came about, in a few words of our own."""
    cause: BaseException | None = error
    while cause is not None:
        for seen in (cause, *cause.args):
            if isinstance(seen, ssl.SSLCertVerificationError):
                return f"its certificate isn't valid ({seen.verify_message})"
            if isinstance(seen, ssl.SSLError):
                return "no secure connection could be agreed on"
            if isinstance(seen, ConnectionRefusedError):
                return "nothing listens there"
        cause = cause.__cause__ or cause.__context__
    return "no connection"


def _usable(proxies: Mapping[str, str]) -> dict[str, str]:
    return {scheme: proxies[scheme] for scheme in _PROXY_SCHEMES if proxies.get(scheme)}


def _passed_by(host: str) -> bool:
    return bool(urllib.request.proxy_bypass(host))
