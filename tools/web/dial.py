"""Connections that go to the very address that was checked.

A name is looked up once a connection; all of its addresses are checked; one of them is connected to. Nobody
looks the name up again in between, so an answer that changes (DNS rebinding) changes nothing. TLS still
proves the name, not the address.

A proxy of the environment is used where there is one, but told the checked address, never the name: it can't
look up another one either. A SOCKS proxy can't be used, and isn't passed by in silence.
"""

from __future__ import annotations

import asyncio
import base64
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol
from urllib.parse import unquote, urlsplit

import httpcore2

from tools.contract import ToolFailure
from tools.web.address import BadAddress, Target, ip_of, target_of
from tools.web.networks import Borders, Ip, Refused

MAX_ADDRESSES: Final = 4
_MAX_PROXY_ANSWER: Final = 16_384

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Name and port to IP addresses in the order of preference; OSError when there are none."""


class Dial(Protocol):
    """Connects to an IP address."""

    async def __call__(
        self, address: str, port: int, timeout_s: float | None
    ) -> httpcore2.AsyncNetworkStream: ...


async def look_up(host: str, port: int) -> Sequence[str]:
    """The system's own look-up."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def dial(address: str, port: int, timeout_s: float | None) -> httpcore2.AsyncNetworkStream:
    return await httpcore2.AnyIOBackend().connect_tcp(address, port, timeout=timeout_s)


class CheckedBackend(httpcore2.AsyncNetworkBackend):
    """What ``httpcore2`` connects with.

    Args:
        borders: says what may be reached.
        scheme: of the requests; it decides which proxy is meant.
        proxies: scheme (or ``all``) to a proxy's address; none of them for what ``passed_by`` names.
        passed_by: whether a host is reached without the proxy.
    """

    def __init__(
        self,
        borders: Borders,
        scheme: str,
        *,
        proxies: Mapping[str, str],
        passed_by: Callable[[str], bool],
        resolve: Resolve = look_up,
        connect: Dial = dial,
    ) -> None:
        self._borders = borders
        self._scheme = scheme
        self._proxies = proxies
        self._passed_by = passed_by
        self._resolve = resolve
        self._connect = connect

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 -- the name is httpcore2's
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """
        Raises:
            Refused: an address of ``host`` must not be reached.
            ToolFailure: the name has no address, or the proxy is none that can be used.
            httpcore2.ConnectError, httpcore2.ConnectTimeout: none of the addresses can be reached.
        """
        target = Target(self._scheme, host, port)
        addresses = await self.checked(target)
        proxy = await self._proxy(target)
        failure: Exception = httpcore2.ConnectError("no address")
        for address in addresses[:MAX_ADDRESSES]:
            try:
                if proxy is None:
                    return await self._connect(str(address), port, timeout)
                return await self._through(proxy, Target(self._scheme, str(address), port), timeout)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure

    async def checked(self, target: Target) -> list[Ip]:
        """The addresses of ``target``, all of which may be reached."""
        self._borders.check_host(target)
        literal = ip_of(target.host)
        if literal is not None:
            return [literal]
        try:
            found = await self._resolve(target.host, target.port)
        except (OSError, UnicodeError) as error:
            raise ToolFailure(f"The name {target.host} has no address; it may be misspelt.") from error
        addresses = [ip_of(text) for text in found]
        known = [address for address in addresses if address is not None]
        if not known or len(known) != len(addresses):
            raise Refused(f"{target.host} has no usable address.")
        self._borders.check_addresses(target, known)
        return known

    async def _proxy(self, target: Target) -> str | None:
        proxy = self._proxies.get(target.scheme) or self._proxies.get("all")
        if proxy is None or self._borders.opens(target):
            return None
        # On Windows this may look a name up.
        return None if await asyncio.to_thread(self._passed_by, target.host) else proxy

    async def _through(
        self, proxy: str, target: Target, timeout_s: float | None
    ) -> httpcore2.AsyncNetworkStream:
        """A tunnel to ``target``, whose host is an address."""
        at, credentials = proxy_of(proxy)
        resolved = [at.host] if ip_of(at.host) else await self._resolve_proxy(at)
        stream = await self._connect(resolved[0], at.port, timeout_s)
        try:
            request = f"CONNECT {target.authority} HTTP/1.1\r\nHost: {target.authority}\r\n"
            if credentials:
                request += f"Proxy-Authorization: Basic {credentials}\r\n"
            await stream.write(f"{request}\r\n".encode("ascii"), timeout_s)
            answer = b""
            while b"\r\n\r\n" not in answer:
                # One byte at a time: what follows the blank line belongs to the page.
                block = await stream.read(1, timeout_s)
                if not block or len(answer) > _MAX_PROXY_ANSWER:
                    raise ToolFailure("The proxy of this machine's environment gave no sensible answer.")
                answer += block
            status = answer.split(b" ", 2)[1:2]
            if not status or not status[0].startswith(b"2"):
                shown = status[0][:3].decode("ascii", "replace") if status else "no status"
                raise ToolFailure(
                    f"The proxy of this machine's environment refused the connection ({shown})."
                )
        except BaseException:
            await stream.aclose()
            raise
        return stream

    async def _resolve_proxy(self, at: Target) -> Sequence[str]:
        try:
            found = await self._resolve(at.host, at.port)
        except (OSError, UnicodeError):
            found = ()
        if not found:
            raise ToolFailure("The proxy of this machine's environment can't be found.")
        return found


def proxy_of(text: str) -> tuple[Target, str]:
    """Where a proxy listens, and its credentials as Basic wants them ("" = none).

    Raises:
        ToolFailure: it is no HTTP proxy that is reached without TLS.
    """
    text = text if "://" in text else f"http://{text}"
    try:
        parts = urlsplit(text)
        user, _, host = parts.netloc.rpartition("@")
        if parts.scheme != "http":
            raise BadAddress
        at = target_of(f"http://{host}/")
    except ValueError as error:
        raise ToolFailure(
            "Pages are fetched directly or through an HTTP proxy; the environment names one of another kind."
        ) from error
    return at, base64.b64encode(unquote(user).encode()).decode("ascii") if user else ""
