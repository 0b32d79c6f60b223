"""Who may come in. Decided from a request's plain data, before the handshake is answered.

In this order (protocol.md, "The door"): the Host is one of ours, against DNS rebinding; the Origin,
compared whole, makes an owner or a visitor; no Origin means no browser and needs the token; so does
an owner's browser wherever a stranger could look local. A refusal names its reason without secrets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final, Literal

from server.config.schema import Server, Site
from server.protocol import ClientRole

TOKEN_PROTOCOL: Final = "pet.token."
_HOST: Final = re.compile(
    r"(\[[0-9a-f]*:[0-9a-f:.]*\]|[a-z0-9_-](?:[a-z0-9._-]{0,251}[a-z0-9_-])?)(?::([0-9]{1,5}))?"
)
_WITH_PORT: Final = re.compile(r"(.+):([0-9]{1,5})")
_LOOPBACK: Final = ip_network("127.0.0.0/8")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_BEARER: Final = re.compile(r"[Bb]earer +(\S+)")


@dataclass(frozen=True, slots=True)
class Knock:
    """A request, as plain data; header fields with every value that was sent.

    Attributes:
        target: the request's target as sent, query included.
        websocket: whether it asks for a WebSocket.
    """

    target: str
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    authorizations: Sequence[str] = ()
    protocols: Sequence[str] = ()
    websocket: bool = False


@dataclass(frozen=True, slots=True)
class Admitted:
    """``role`` is what the client is from now on; ``origin`` the page it came from, if any."""

    role: ClientRole
    origin: str | None


@dataclass(frozen=True, slots=True)
class Refused:
    """``reason`` is for the log: one line without secrets."""

    status: Literal[403, 421]
    reason: str


class Door:
    """The door of one listening port.

    Args:
        host: the address or name that is listened on.
        port: the port that is listened on.
        is_token: compares with the owner's token, in constant time.
    """

    def __init__(
        self, server: Server, site: Site, *, host: str, port: int, is_token: Callable[[str], bool]
    ) -> None:
        self._is_token = is_token
        self._port = port
        own = _address(host)
        self._own_name = _name(host) if own is not None and not own.is_unspecified else "localhost"
        self._hosts: dict[str, set[int | None]] = {}
        for name, outer_port in map(_host_and_port, server.hosts):
            self._hosts.setdefault(name, set()).add(outer_port)
        self._owners = {*server.allowed_origins, *self._own_origins()}
        self._visitors = frozenset(site.origins if site.enabled else ())
        local = host.lower() == "localhost" or _is_loopback(own)
        self.token_required: Final = bool(
            server.require_token or server.hosts or site.enabled or site.origins or not local
        )
        """Whether an owner's browser needs the token too."""

    def admit(self, knock: Knock) -> Admitted | Refused:
        """Lets in or refuses. A plain HTTP request (page, assets) needs no token, only Host and Origin."""
        if refused := self._wrong_host(knock):
            return refused
        if len(knock.origins) > 1:
            return Refused(403, "more than one Origin")
        if not knock.origins:
            if knock.websocket and not self._is_bearer(knock.authorizations):
                return Refused(403, "no Origin and no right token")
            return Admitted("owner", None)
        origin = knock.origins[0]
        if origin in self._visitors:
            return Admitted("visitor", origin)
        if origin not in self._owners:
            return Refused(403, f"foreign Origin {_shown(origin)}")
        if knock.websocket and self.token_required and not self._has_token(knock):
            return Refused(403, f"no right token from {_shown(origin)}")
        return Admitted("owner", origin)

    def _wrong_host(self, knock: Knock) -> Refused | None:
        if len(knock.hosts) != 1:
            return Refused(421, f"{len(knock.hosts)} Host fields")
        if not knock.target.startswith("/"):
            return Refused(421, "the request names another server")
        host = knock.hosts[0]
        parts = _HOST.fullmatch(host.lower())
        if parts is None or not self._is_ours(parts[1], int(parts[2]) if parts[2] else None):
            return Refused(421, f"foreign Host {_shown(host)}")
        return None

    def _is_ours(self, name: str, port: int | None) -> bool:
        ports = self._hosts.get(_name(name), set())
        if None in ports and port in (None, self._port, *_DEFAULT_PORTS.values()):
            return True
        if port in ports or (port is None and not ports.isdisjoint(_DEFAULT_PORTS.values())):
            return True
        local = name == "localhost" or _is_loopback(_address(name)) or _name(name) == self._own_name
        return local and self._port == (_DEFAULT_PORTS["http"] if port is None else port)

    def _own_origins(self) -> Iterator[str]:
        for name in ("localhost", "127.0.0.1", "[::1]", self._own_name):
            yield _origin("http", name, self._port)
        for name, ports in self._hosts.items():
            for scheme, default in _DEFAULT_PORTS.items():
                for port in {port or default for port in ports} | ({self._port} if None in ports else set()):
                    yield _origin(scheme, name, port)

    def _is_bearer(self, authorizations: Sequence[str]) -> bool:
        bearer = _BEARER.fullmatch(authorizations[0]) if len(authorizations) == 1 else None
        return bearer is not None and self._is_token(bearer[1])

    def _has_token(self, knock: Knock) -> bool:
        offered = [name.strip() for value in knock.protocols for name in value.split(",")]
        tokens = [name.removeprefix(TOKEN_PROTOCOL) for name in offered if name.startswith(TOKEN_PROTOCOL)]
        return len(tokens) == 1 and self._is_token(tokens[0])


def _origin(scheme: str, host: str, port: int) -> str:
    """As a browser writes it."""
    return f"{scheme}://{host}" if port == _DEFAULT_PORTS[scheme] else f"{scheme}://{host}:{port}"


def _host_and_port(configured: str) -> tuple[str, int | None]:
    """An entry of ``[server] hosts``: its name, and its port if it names one."""
    if _address(configured) is None and (parts := _WITH_PORT.fullmatch(configured)):
        return _name(parts[1]), int(parts[2])
    return _name(configured), None


def _name(host: str) -> str:
    """As a browser writes it: small letters, addresses in their shortest form, IPv6 in brackets."""
    address = _address(host)
    if address is None:
        return host.lower()
    return f"[{address}]" if address.version == 6 else str(address)


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


def _is_loopback(address: IPv4Address | IPv6Address | None) -> bool:
    return address is not None and (address in _LOOPBACK or address == IPv6Address("::1"))


def _shown(value: str) -> str:
    return repr(value[:200])
