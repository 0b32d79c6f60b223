"""The port's HTTP side on real sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from server.config.store import ConfigStore
from server.gateway.front import Front
from server.gateway.token import TokenFile


@dataclass
class Port:
    front: Front
    store: ConfigStore
    token: str
    number: int

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.number}"

    @property
    def origin(self) -> str:
        return f"http://{self.host}"

    async def request(
        self, target: str, *fields: str, method: str = "GET", host: str | None = None
    ) -> Answer:
        """One HTTP request on a connection of its own."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.number)
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host or self.host}", *fields, "", ""]
        writer.write("\r\n".join(lines).encode())
        async with asyncio.timeout(5):
            raw = await reader.read()
        writer.close()
        await writer.wait_closed()
        head, _, body = raw.partition(b"\r\n\r\n")
        status, *headers = head.decode().split("\r\n")
        return Answer(int(status.split()[1]), dict(line.split(": ", 1) for line in headers), body)

    async def connect_status(self, origin: str | None, *protocols: str, bearer: str = "") -> int | str | None:
        """The subprotocol that was chosen on a WebSocket, or the status that refused it."""
        try:
            async with connect(
                f"ws://{self.host}/ws",
                origin=Origin(origin) if origin else None,
                subprotocols=[Subprotocol(name) for name in protocols] or None,
                additional_headers={"Authorization": f"Bearer {bearer}"} if bearer else None,
                proxy=None,
            ) as socket:
                return socket.subprotocol
        except InvalidStatus as refused:
            return refused.response.status_code


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@pytest.fixture
async def port(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Port]:
    page, data = tmp_path / "page", tmp_path / "data"
    page.mkdir()
    data.mkdir()
    (page / "index.html").write_text("<!doctype html>", encoding="utf-8")
    (tmp_path / "lab.toml").write_text(getattr(request, "param", ""), encoding="utf-8")
    store = ConfigStore(tmp_path / "lab.toml", data)
    front = Front(store, data, lambda: "ready", page=page)

    async def talk(connection: ServerConnection) -> None:
        await connection.wait_closed()

    async with serve(
        talk,
        "127.0.0.1",
        0,
        process_request=lambda connection, request: front.answer(request, connection.remote_address),
        select_subprotocol=front.select_subprotocol,
        server_header=None,
    ) as server:
        number = server.sockets[0].getsockname()[1]
        front.opened("127.0.0.1", number)
        yield Port(front, store, TokenFile(data).read(), number)


guarded = pytest.mark.parametrize("port", ["[server]\nrequire_token = true\n"], indirect=True)


async def test_the_page_comes_with_its_policy_and_closes_the_connection(port: Port) -> None:
    answer = await port.request("/")
    assert (answer.status, answer.body) == (200, b"<!doctype html>")
    assert f"ws://{port.host}" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Connection"] == "close"
    head = await port.request("/", method="HEAD")
    assert (head.status, head.headers, head.body) == (200, answer.headers, b"")
    assert (await port.request("/", f"If-None-Match: {answer.headers['ETag']}")).status == 304


async def test_health_tells_state_and_whether_a_token_is_needed(port: Port) -> None:
    answer = await port.request("/healthz")
    health = json.loads(answer.body)
    assert (health["status"], health["state"], health["token_required"]) == ("ok", "ready", False)
    assert health["version"]
    assert answer.headers["Cache-Control"] == "no-store"
    assert (await port.request("/healthz", method="HEAD")).body == b""
    assert (await port.request("/healthz", method="POST")).status == 405


@pytest.mark.parametrize("target", ["/", "/healthz", "/token", "/ws", "/missing"])
async def test_a_rebound_name_reaches_nothing(port: Port, target: str) -> None:
    assert (await port.request(target, host="evil.example")).status == 421
    assert (await port.request(target, "Host: evil.example")).status == 421
    assert (await port.request(target, "Origin: https://evil.example")).status == 403


async def test_the_own_page_connects_and_a_foreign_one_does_not(port: Port) -> None:
    assert await port.connect_status(port.origin, "pet.v1") == "pet.v1"
    assert await port.connect_status(port.origin) is None
    assert await port.connect_status(port.origin, "other") is None
    assert await port.connect_status("https://evil.example", "pet.v1") == 403
    assert await port.connect_status("null") == 403


async def test_a_script_connects_with_the_token_alone(port: Port) -> None:
    assert await port.connect_status(None, bearer=port.token) is None
    assert await port.connect_status(None, bearer="x" + port.token) == 403
    assert await port.connect_status(None) == 403


async def test_a_plain_request_for_the_socket_is_told_to_upgrade(port: Port) -> None:
    assert (await port.request("/ws", f"Authorization: Bearer {port.token}")).status == 426


@guarded
async def test_a_page_changes_its_code_for_the_token_once(port: Port) -> None:
    address, _, code = port.front.page_url(port.origin).partition("#code=")
    assert address == f"{port.origin}/"
    assert await port.connect_status(port.origin, "pet.v1") == 403
    assert (await port.request("/token")).status == 403
    assert (await port.request("/token", "X-Pet-Code: wrong")).status == 403
    assert (await port.request("/token", f"X-Pet-Code: {code}", method="HEAD")).status == 404
    answer = await port.request("/token", f"X-Pet-Code: {code}")
    assert json.loads(answer.body) == {"token": port.token}
    assert answer.headers["Cache-Control"] == "no-store"
    assert (await port.request("/token", f"X-Pet-Code: {code}")).status == 403
    assert await port.connect_status(port.origin, "pet.v1", f"pet.token.{port.token}") == "pet.v1"
    assert await port.connect_status(port.origin, f"pet.token.{port.token}") == f"pet.token.{port.token}"


async def test_without_a_need_for_the_token_the_address_carries_no_code(port: Port) -> None:
    assert port.front.page_url("http://127.0.0.1:5") == "http://127.0.0.1:5/"
    assert port.front.page_url("http://0.0.0.0:5") == "http://127.0.0.1:5/"
    assert port.front.page_url("http://[::]:5") == "http://[::1]:5/"


async def test_an_edit_of_lab_toml_moves_the_door_at_once(port: Port) -> None:
    assert await port.connect_status("https://my.page") == 403
    port.store.path.write_text('[server]\nallowed_origins = ["https://my.page"]\n', encoding="utf-8")
    await port.store.reload()
    assert await port.connect_status("https://my.page") is None


@pytest.mark.parametrize(
    "port", ['[site]\nenabled = true\norigins = ["https://blog.example"]\n'], indirect=True
)
async def test_a_visitor_does_not_become_the_owner_by_the_way(port: Port) -> None:
    assert await port.connect_status("https://blog.example", f"pet.token.{port.token}") == 403


@pytest.mark.parametrize("port", ['[server]\ntrusted_proxies = ["127.0.0.1", "10.0.0.0/8"]\n'], indirect=True)
@pytest.mark.parametrize(
    ("remote", "forwarded", "expected"),
    [
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "8.8.8.8", "8.8.8.8"),
        ("::ffff:127.0.0.1", "8.8.8.8", "8.8.8.8"),
        ("127.0.0.1", "1.1.1.1, 8.8.8.8, 10.0.0.7", "8.8.8.8"),
        ("127.0.0.1", "made-up, 10.0.0.7", "10.0.0.7"),
        ("127.0.0.1", "2001:db8::1", "2001:db8::1"),
        ("192.168.1.5", "8.8.8.8", "192.168.1.5"),
    ],
)
async def test_turns_are_counted_by_the_clients_own_address(
    port: Port, remote: str, forwarded: str, expected: str
) -> None:
    from websockets.datastructures import Headers
    from websockets.http11 import Request

    request = Request("/ws", Headers({"X-Forwarded-For": forwarded} if forwarded else {}))
    assert port.front.client_address(request, (remote, 5)) == expected


async def test_no_log_line_carries_the_token(port: Port, caplog: pytest.LogCaptureFixture) -> None:
    assert (
        await port.connect_status("https://evil.example", f"pet.token.{port.token}", bearer=port.token) == 403
    )
    refusals = [record.getMessage() for record in caplog.records if record.name == "server.gateway.front"]
    assert len(refusals) == 1
    assert "evil.example" in refusals[0]
    assert port.token not in caplog.text
