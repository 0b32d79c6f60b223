"""Answers every HTTP request of the port, and guards its WebSocket.

Between the `websockets` library's requests and the pure parts: the door, the token, the files.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Any, Final

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from server import __version__
from server.config.store import ConfigStore
from server.gateway.door import TOKEN_PROTOCOL, Admitted, Door, Knock, Refused
from server.gateway.proof import NONCE_FIELD, is_nonce, proof
from server.gateway.static import SAFE_HEADERS, StaticFiles
from server.gateway.token import OneTimeCodes, TokenFile
from server.protocol import StateName

log = logging.getLogger(__name__)

_PAGE: Final = Path(__file__).parent.parent / "page"
_SOCKET_PATH: Final = "/ws"
_SUBPROTOCOL: Final = Subprotocol("pet.v1")
_CODE_FIELD: Final = "X-Pet-Code"
_JSON: Final = "application/json"
_PLAIN: Final = "text/plain; charset=utf-8"
_CLOSE: Final = {"Connection": "close"}


class Front:
    """The HTTP side of the port.

    Args:
        data_dir: where the token is kept.
        state: the companion's state, for ``/healthz``.
        page: the folder of the built page.
    """

    def __init__(
        self, store: ConfigStore, data_dir: Path, state: Callable[[], StateName], *, page: Path = _PAGE
    ) -> None:
        self._store = store
        self._state = state
        self._token = TokenFile(data_dir)
        self._codes = OneTimeCodes()
        self._files = StaticFiles(page)
        self._listening = ("", 0)
        self._door: Door | None = None
        store.subscribe(lambda _old, _new: self._hang_door())

    def opened(self, host: str, port: int) -> None:
        """The port is open: from now on it is known what is ours."""
        self._listening = (host, port)
        try:
            self._token.read()
        except OSError as error:
            log.warning(
                "the token can't be kept (%s): whoever needs it can't come in", error.strerror or error
            )
        self._hang_door()

    def answer(self, request: Request, remote: Any) -> Response | None:
        """The answer to a request from the address ``remote``; None lets a WebSocket handshake go on."""
        if self._door is None:
            return _response(503, _PLAIN, b"Starting\n")
        fields = request.headers
        path = request.path.partition("?")[0]
        knock = Knock(
            target=request.path,
            hosts=fields.get_all("Host"),
            origins=fields.get_all("Origin"),
            authorizations=fields.get_all("Authorization"),
            protocols=fields.get_all("Sec-WebSocket-Protocol"),
            websocket=path == _SOCKET_PATH,
        )
        verdict = self._door.admit(knock)
        if isinstance(verdict, Admitted) and knock.websocket and verdict.role != "owner":
            verdict = Refused(403, "visitors are not served")
        if isinstance(verdict, Refused):
            log.warning("refused %s: %s", self.client_address(request, remote), verdict.reason)
            return _response(verdict.status, _PLAIN, f"{HTTPStatus(verdict.status).phrase}\n".encode())
        if knock.websocket:
            return None
        if path == "/healthz" and request.method in ("GET", "HEAD"):
            return self._health(request)
        if path == "/token" and request.method == "GET":
            return self._change_code(fields)
        return self._static(request)

    def select_subprotocol(
        self, _connection: ServerConnection, offered: Sequence[Subprotocol]
    ) -> Subprotocol | None:
        """A browser closes the connection when it offers subprotocols and none is chosen."""
        if _SUBPROTOCOL in offered:
            return _SUBPROTOCOL
        return next((name for name in offered if name.startswith(TOKEN_PROTOCOL)), None)

    def client_address(self, request: Request, remote: Any) -> str:
        """The address of the client itself: the last one that no trusted proxy has."""
        address = remote[0] if isinstance(remote, tuple) and remote else ""
        trusted = [ip_network(proxy, strict=False) for proxy in self._store.config.server.trusted_proxies]
        hops = ",".join(request.headers.get_all("X-Forwarded-For")).split(",")
        while hops and _is_in(address, trusted):
            nearer = hops.pop().strip()
            if not _is_address(nearer):
                break
            address = nearer
        return address

    def page_url(self, url: str) -> str:
        """The page's address for the owner's browser, with a one-time code where it needs the token."""
        url = url.replace("://0.0.0.0:", "://127.0.0.1:").replace("://[::]:", "://[::1]:") + "/"
        if self._door is None or not self._door.token_required:
            return url
        return f"{url}#code={self._codes.issue()}"

    def _hang_door(self) -> None:
        host, port = self._listening
        if port:
            server, site = self._store.config.server, self._store.config.site
            self._door = Door(server, site, host=host, port=port, is_token=self._token.matches)

    def _health(self, request: Request) -> Response:
        assert self._door is not None
        body: dict[str, Any] = {
            "status": "ok",
            "version": __version__,
            "state": self._state(),
            "token_required": self._door.token_required,
        }
        nonces = request.headers.get_all(NONCE_FIELD)
        if len(nonces) == 1 and is_nonce(nonces[0]):
            with suppress(OSError):
                body["proof"] = proof(self._token.read(), nonces[0], self._listening[1])
        answer = _response(200, _JSON, json.dumps(body).encode())
        if request.method == "HEAD":
            answer.body = b""
        return answer

    def _change_code(self, fields: Headers) -> Response:
        """A field of our own can't be sent by a foreign page: a browser would ask us first."""
        codes = fields.get_all(_CODE_FIELD)
        if len(codes) != 1 or not self._codes.redeem(codes[0]):
            return _response(403, _JSON, b'{"error":"forbidden"}')
        try:
            return _response(200, _JSON, json.dumps({"token": self._token.read()}).encode())
        except OSError:
            return _response(503, _JSON, b'{"error":"internal"}')

    def _static(self, request: Request) -> Response:
        fields = request.headers
        answer = self._files.answer(
            request.method,
            request.path,
            host=fields["Host"],
            if_none_match=",".join(fields.get_all("If-None-Match")),
            accept_encoding=",".join(fields.get_all("Accept-Encoding")),
        )
        headers = Headers({**answer.headers, **_CLOSE})
        return Response(answer.status, HTTPStatus(answer.status).phrase, headers, answer.body)


def _response(status: int, content_type: str, body: bytes) -> Response:
    headers: Mapping[str, str] = {
        "Content-Type": content_type,
        "Content-Length": str(len(body)),
        "Cache-Control": "no-store",
        **SAFE_HEADERS,
        **_CLOSE,
    }
    return Response(status, HTTPStatus(status).phrase, Headers(headers), body)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _is_in(address: str, networks: Sequence[Any]) -> bool:
    if not _is_address(address):
        return False
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped:
        return any(parsed in network or parsed.ipv4_mapped in network for network in networks)
    return any(parsed in network for network in networks)
