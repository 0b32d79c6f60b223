from __future__ import annotations

import hmac
from typing import Any

import pytest

from server.config.schema import Server, Site
from server.gateway.door import Admitted, Door, Knock, Refused

PORT = 12393
TOKEN = "t" * 43
LOCAL = f"127.0.0.1:{PORT}"
OWN = f"http://127.0.0.1:{PORT}"
OWNER_PAGE = "https://my.page"
SITE = "https://blog.example"


def door(host: str = "127.0.0.1", port: int = PORT, site: Site | None = None, **server: Any) -> Door:
    def is_token(presented: str) -> bool:
        return hmac.compare_digest(presented.encode(), TOKEN.encode())

    return Door(Server(**server), site or Site(), host=host, port=port, is_token=is_token)


def knock(
    host: str | None = LOCAL,
    origin: str | None = OWN,
    *,
    target: str = "/ws",
    websocket: bool = True,
    **fields: Any,
) -> Knock:
    return Knock(
        target=target,
        hosts=() if host is None else (host,),
        origins=() if origin is None else (origin,),
        websocket=websocket,
        **fields,
    )


def status(verdict: Admitted | Refused) -> int:
    return verdict.status if isinstance(verdict, Refused) else 200


@pytest.mark.parametrize(
    "host",
    [
        LOCAL,
        f"localhost:{PORT}",
        f"LOCALHOST:{PORT}",
        f"[::1]:{PORT}",
        f"[0:0:0:0:0:0:0:1]:{PORT}",
        f"127.9.9.9:{PORT}",
    ],
)
def test_a_loopback_host_with_the_right_port_may_knock(host: str) -> None:
    assert door().admit(knock(host)) == Admitted("owner", OWN)


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        f"evil.example:{PORT}",
        f"127.0.0.1.evil.example:{PORT}",
        f"localhost.evil.example:{PORT}",
        f"localhost.:{PORT}",
        f"notlocalhost:{PORT}",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:80",
        f"127.0.0.1:1{PORT}",
        f"127.0.0.1:{PORT}:80",
        f"127.0.0.1:{PORT} ",
        f"user@127.0.0.1:{PORT}",
        f"127.0.0.1@evil.example:{PORT}",
        f"http://127.0.0.1:{PORT}",
        f"127.0.0.1:{PORT}/",
        f"127.1:{PORT}",
        f"2130706433:{PORT}",
        f"0177.0.0.1:{PORT}",
        f"0.0.0.0:{PORT}",
        f"[::]:{PORT}",
        f"::1:{PORT}",
        f"[::1%25lo]:{PORT}",
        f"[127.0.0.1]:{PORT}",
        f"[::ffff:10.0.0.1]:{PORT}",
        f"192.168.1.5:{PORT}",
        f"127.0.0.1:{PORT}, evil.example",
        f"127.0.0.１:{PORT}",
        "127.0.0.1:٣",
    ],
)
@pytest.mark.parametrize("websocket", [True, False])
def test_a_rebound_name_reaches_neither_socket_nor_page(host: str | None, websocket: bool) -> None:
    assert status(door().admit(knock(host, websocket=websocket))) == 421
    assert (
        status(door().admit(knock(host, None, websocket=websocket, authorizations=(f"Bearer {TOKEN}",))))
        == 421
    )


def test_a_second_host_field_is_refused() -> None:
    assert status(door().admit(Knock("/ws", hosts=(LOCAL, LOCAL), origins=(OWN,), websocket=True))) == 421


def test_a_request_that_names_another_server_in_its_target_is_refused() -> None:
    assert status(door().admit(knock(target="http://evil.example/ws"))) == 421


def test_the_host_is_checked_before_the_origin() -> None:
    assert status(door().admit(knock("evil.example", "https://evil.example"))) == 421


@pytest.mark.parametrize(
    "origin", [OWN, f"http://localhost:{PORT}", f"http://[::1]:{PORT}", OWNER_PAGE, "vscode-webview://abc"]
)
def test_our_own_pages_are_owners(origin: str) -> None:
    assert door(allowed_origins=[OWNER_PAGE, "vscode-webview://abc"]).admit(knock(origin=origin)) == Admitted(
        "owner", origin
    )


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "*",
        "https://evil.example",
        f"https://127.0.0.1:{PORT}",
        "http://127.0.0.1",
        "http://127.0.0.1:80",
        f"http://127.0.0.1:{PORT}0",
        f"http://127.0.0.1:{PORT}.evil.example",
        f"http://127.0.0.1:{PORT}/",
        f"http://127.0.0.1:{PORT} ",
        f"http://127.0.0.1:{PORT}@evil.example",
        f"http://user@127.0.0.1:{PORT}",
        f"http://localhost.:{PORT}",
        f"http://localhost.evil.example:{PORT}",
        f"http://evil-localhost:{PORT}",
        f"HTTP://127.0.0.1:{PORT}",
        f"http://LOCALHOST:{PORT}",
        f"http://0.0.0.0:{PORT}",
        f"http://127.0.0.2:{PORT}",
        f"//127.0.0.1:{PORT}",
        "https://my.page.evil.example",
        "https://evil-my.page",
        "https://my.page:444",
        "http://my.page",
        "https://sub.my.page",
        f"{OWN}, https://evil.example",
        "file://",
    ],
)
@pytest.mark.parametrize("websocket", [True, False])
def test_any_other_page_drives_nothing(origin: str, websocket: bool) -> None:
    fields: dict[str, Any] = {"authorizations": (f"Bearer {TOKEN}",), "protocols": (f"pet.token.{TOKEN}",)}
    verdict = door(allowed_origins=[OWNER_PAGE]).admit(knock(origin=origin, websocket=websocket, **fields))
    assert status(verdict) == 403


def test_a_second_origin_field_is_refused() -> None:
    assert status(door().admit(Knock("/ws", hosts=(LOCAL,), origins=(OWN, OWN), websocket=True))) == 403


@pytest.mark.parametrize(
    ("authorizations", "expected"),
    [
        ((f"Bearer {TOKEN}",), 200),
        ((f"bearer {TOKEN}",), 200),
        ((), 403),
        (("",), 403),
        (("Bearer",), 403),
        (("Bearer ",), 403),
        ((TOKEN,), 403),
        ((f"Basic {TOKEN}",), 403),
        ((f"Bearer {TOKEN}x",), 403),
        ((f"Bearer {TOKEN[:-1]}",), 403),
        ((f"Bearer {TOKEN} x",), 403),
        (("Bearer é",), 403),
        ((f"Bearer {TOKEN}", f"Bearer {TOKEN}"), 403),
    ],
)
def test_without_an_origin_only_the_token_opens(authorizations: tuple[str, ...], expected: int) -> None:
    assert status(door().admit(knock(origin=None, authorizations=authorizations))) == expected


def test_without_an_origin_a_subprotocol_is_no_token() -> None:
    assert status(door().admit(knock(origin=None, protocols=(f"pet.token.{TOKEN}",)))) == 403


@pytest.mark.parametrize(
    "options",
    [
        {"require_token": True},
        {"hosts": ["pet.example"]},
        {"host": "0.0.0.0"},
        {"host": "::"},
        {"host": "192.168.1.5"},
        {"site": Site(enabled=True, origins=(SITE,))},
        {"site": Site(origins=(SITE,))},
    ],
)
def test_where_strangers_could_look_local_the_owners_page_needs_the_token_too(
    options: dict[str, Any],
) -> None:
    guarded = door(**options)
    assert guarded.token_required
    assert status(guarded.admit(knock())) == 403
    assert status(guarded.admit(knock(protocols=("pet.v1, pet.token.wrong",)))) == 403
    assert status(guarded.admit(knock(protocols=(f"pet.token.wrong, pet.token.{TOKEN}",)))) == 403
    assert status(guarded.admit(knock(authorizations=(f"Bearer {TOKEN}",)))) == 403
    assert guarded.admit(knock(protocols=(f"pet.v1, pet.token.{TOKEN}",))) == Admitted("owner", OWN)
    assert guarded.admit(knock(protocols=("pet.v1", f"pet.token.{TOKEN}"))) == Admitted("owner", OWN)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_on_loopback_alone_the_owners_page_needs_no_token(host: str) -> None:
    assert not door(host).token_required


def test_page_and_assets_need_no_token_to_load() -> None:
    guarded = door(require_token=True)
    assert guarded.admit(knock(origin=None, target="/", websocket=False)) == Admitted("owner", None)
    assert guarded.admit(knock(target="/assets/a.js", websocket=False)) == Admitted("owner", OWN)


def test_a_visitor_is_never_the_owner() -> None:
    guarded = door(site=Site(enabled=True, origins=(SITE,)), allowed_origins=(SITE,))
    fields: dict[str, Any] = {"authorizations": (f"Bearer {TOKEN}",), "protocols": (f"pet.token.{TOKEN}",)}
    assert guarded.admit(knock(origin=SITE)) == Admitted("visitor", SITE)
    assert guarded.admit(knock(origin=SITE, **fields)) == Admitted("visitor", SITE)


def test_a_site_that_is_switched_off_has_no_visitors() -> None:
    assert status(door(site=Site(origins=(SITE,))).admit(knock(origin=SITE))) == 403


@pytest.mark.parametrize(
    ("configured", "host", "expected"),
    [
        ("pet.example", "pet.example", 200),
        ("pet.example", "PET.example", 200),
        ("pet.example", "pet.example:443", 200),
        ("pet.example", "pet.example:80", 200),
        ("pet.example", f"pet.example:{PORT}", 200),
        ("pet.example", "pet.example:8443", 421),
        ("pet.example", "sub.pet.example", 421),
        ("pet.example", "pet.example.evil", 421),
        ("pet.example", LOCAL, 200),
        ("Pet.Example:8443", "pet.example:8443", 200),
        ("pet.example:8443", "pet.example", 421),
        ("pet.example:443", "pet.example", 200),
        ("192.168.1.5", f"192.168.1.5:{PORT}", 200),
        ("fd00::5", f"[fd00:0::5]:{PORT}", 200),
        ("[fd00::5]:8443", "[fd00::5]:8443", 200),
        ("[fd00::5]:8443", f"[fd00::5]:{PORT}", 421),
    ],
)
def test_a_configured_host_may_knock(configured: str, host: str, expected: int) -> None:
    protocols = (f"pet.token.{TOKEN}",)
    assert status(door(hosts=[configured]).admit(knock(host, protocols=protocols))) == expected


@pytest.mark.parametrize(
    ("configured", "origin", "expected"),
    [
        ("pet.example", "https://pet.example", 200),
        ("pet.example", "http://pet.example", 200),
        ("pet.example", f"http://pet.example:{PORT}", 200),
        ("pet.example", "https://pet.example:8443", 403),
        ("pet.example:8443", "https://pet.example:8443", 200),
        ("pet.example:8443", "https://pet.example", 403),
        ("pet.example:443", "https://pet.example", 200),
    ],
)
def test_a_configured_hosts_own_page_is_the_owners(configured: str, origin: str, expected: int) -> None:
    protocols = (f"pet.token.{TOKEN}",)
    assert status(door(hosts=[configured]).admit(knock(origin=origin, protocols=protocols))) == expected


def test_the_address_that_is_listened_on_is_ours() -> None:
    host, origin = f"192.168.1.5:{PORT}", f"http://192.168.1.5:{PORT}"
    protocols = (f"pet.token.{TOKEN}",)
    assert door("192.168.1.5").admit(knock(host, origin, protocols=protocols)) == Admitted("owner", origin)
    assert status(door("192.168.1.5").admit(knock(f"192.168.1.6:{PORT}", origin, protocols=protocols))) == 421


def test_on_port_80_neither_host_nor_origin_names_it() -> None:
    assert door(port=80).admit(knock("localhost", "http://localhost")) == Admitted(
        "owner", "http://localhost"
    )
    assert status(door(port=80).admit(knock("localhost", "http://localhost:80"))) == 403


def test_a_refusal_tells_the_log_no_secret_and_no_second_line() -> None:
    fields: dict[str, Any] = {"authorizations": (f"Bearer {TOKEN}x",), "protocols": (f"pet.token.{TOKEN}x",)}
    for verdict in (
        door().admit(knock(origin=None, **fields)),
        door(require_token=True).admit(knock(**fields)),
        door().admit(knock(origin="https://evil\r\nexample", **fields)),
        door().admit(knock("evil\r\nexample" + "x" * 9000, **fields)),
    ):
        assert isinstance(verdict, Refused)
        assert TOKEN not in verdict.reason
        assert len(verdict.reason) < 300
        assert verdict.reason.isprintable()
