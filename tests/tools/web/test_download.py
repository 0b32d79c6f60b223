from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib
from pathlib import Path

import pytest

from tests.support.website import Asked, Internet, Website, answer
from tests.tools.web.conftest import PUBLIC
from tools.contract import ToolFailure
from tools.web.download import MAX_BYTES, USER_AGENT, Downloader
from tools.web.networks import Borders

MEGABYTE_OF_ZEROS = bytes(1_000_000)


async def test_a_request_says_what_is_asked_for_and_who_asks_and_nothing_else(
    site: Website, downloader: Downloader
) -> None:
    site.pages["/a"] = answer("hello", headers={"Set-Cookie": "a=b"})
    for _ in range(2):
        got = await downloader.get(site.url("/a?b=1"))
        assert (got.status, got.body, got.media_type, got.charset) == (200, b"hello", "text/html", "utf-8")
    first, second = site.asked
    assert (first.method, first.target) == ("GET", "/a?b=1")
    assert first.headers["host"] == site.authority
    assert first.headers["user-agent"] == USER_AGENT
    assert "pet_mode" in USER_AGENT
    assert not {"cookie", "authorization", "referer"} & set(second.headers)


async def test_credentials_of_the_environment_are_never_used(
    site: Website, downloader: Downloader, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login a password secret\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(netrc))
    site.pages["/"] = answer("x")
    await downloader.get(site.url())
    assert "authorization" not in site.asked[0].headers


async def test_redirects_are_followed_and_every_hop_is_asked_about(
    site: Website, downloader: Downloader
) -> None:
    site.redirect("/1", "2")
    site.redirect("/2", "/3?x=ü", 308)
    site.pages["/3"] = answer("there")
    hops: list[str] = []

    async def before_hop(url: str) -> None:
        hops.append(url)

    got = await downloader.get(site.url("/1"), before_hop=before_hop)
    assert (got.body, got.url) == (b"there", site.url("/3?x=%C3%BC"))
    assert hops == [site.url("/1"), site.url("/2"), site.url("/3?x=%C3%BC")]


@pytest.mark.parametrize(
    "to",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1:1/",
        "http://localhost/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://0x7f000001/",
        "//10.0.0.1/",
        "http://metadata.google.internal/",
    ],
)
async def test_a_redirect_to_a_place_that_is_not_public_is_not_followed(
    site: Website, downloader: Downloader, to: str
) -> None:
    site.redirect("/", to)
    with pytest.raises(ToolFailure, match="only public addresses are fetched"):
        await downloader.get(site.url())
    assert site.connections == 1


async def test_a_redirect_to_another_port_of_an_allowed_host_is_not_followed(
    site: Website, downloader: Downloader
) -> None:
    async with Website() as other:
        other.pages["/"] = answer("secret")
        site.redirect("/", other.url())
        with pytest.raises(ToolFailure, match="this machine itself"):
            await downloader.get(site.url())
        assert other.connections == 0


@pytest.mark.parametrize(
    "to", ["ftp://example.com/", "javascript:alert(1)", "http://a@b/", "http://[", "file:///x"]
)
async def test_a_redirect_to_what_is_no_page_fails(site: Website, downloader: Downloader, to: str) -> None:
    site.redirect("/", to)
    with pytest.raises(ToolFailure, match="redirects to an address that can't be fetched"):
        await downloader.get(site.url())


async def test_redirects_in_a_circle_and_for_ever_end(site: Website, downloader: Downloader) -> None:
    site.redirect("/a", "/b")
    site.redirect("/b", "/a")
    with pytest.raises(ToolFailure, match="in a circle"):
        await downloader.get(site.url("/a"))

    async def on(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(status=302, headers={"Location": f"{asked.target}x"}))

    for length in range(1, 10):
        site.pages[f"/for-ever{'x' * length}"] = on
    with pytest.raises(ToolFailure, match="more than 5 times"):
        await downloader.get(site.url("/for-everx"))
    assert len(site.asked) == 2 + 6


async def test_the_address_that_was_checked_is_connected_to_and_not_looked_up_again(
    site: Website, internet: Internet, far: Downloader
) -> None:
    internet.names["page.example"] = [[PUBLIC], ["127.0.0.1"]]
    site.pages["/"] = answer("fine")
    assert (await far.get("http://page.example/")).body == b"fine"
    assert (internet.looked_up, internet.dialled) == (["page.example"], [(PUBLIC, 80)])
    assert site.asked[0].headers["host"] == "page.example"

    with pytest.raises(ToolFailure, match="this machine itself"):
        await far.get("http://page.example/")
    assert internet.dialled == [(PUBLIC, 80)]


async def test_a_redirect_to_the_same_name_with_another_address_by_now_is_refused(
    site: Website, internet: Internet, far: Downloader
) -> None:
    internet.names["page.example"] = [[PUBLIC], ["169.254.169.254"]]
    site.redirect("/", "/again")
    with pytest.raises(ToolFailure, match="metadata"):
        await far.get("http://page.example/")
    assert site.connections == 1


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], [PUBLIC, "10.0.0.1"], ["::1", PUBLIC], ["fe80::1%1"], ["what?"]]
)
async def test_a_name_with_any_address_that_is_not_public_is_refused(
    internet: Internet, far: Downloader, addresses: list[str]
) -> None:
    internet.names["page.example"] = [addresses]
    with pytest.raises(ToolFailure):
        await far.get("http://page.example/")
    assert internet.dialled == []


async def test_a_second_address_is_tried_where_the_first_is_dead(
    site: Website, internet: Internet, far: Downloader
) -> None:
    internet.names["page.example"] = [["2606:2800:220:1::1", PUBLIC]]
    site.pages["/"] = answer("fine")
    assert (await far.get("http://page.example/")).body == b"fine"


async def test_a_name_without_an_address_is_said_to_have_none(far: Downloader) -> None:
    with pytest.raises(ToolFailure, match=r"nowhere\.example has no address"):
        await far.get("http://nowhere.example/")


async def test_a_port_where_nothing_listens_is_named(downloader: Downloader) -> None:
    async with Website() as gone:
        pass
    borders = Borders.of([gone.authority])
    with pytest.raises(ToolFailure, match="nothing listens there"):
        await Downloader(lambda: borders, proxies=dict).get(gone.url())


async def test_two_gigabytes_of_packed_zeros_stop_early_and_take_little_memory(
    site: Website, downloader: Downloader
) -> None:
    async def bomb(asked: Asked, writer: asyncio.StreamWriter) -> None:
        packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n")
        writer.write(packer.compress(MEGABYTE_OF_ZEROS) + packer.flush(zlib.Z_FULL_FLUSH))
        block = packer.compress(MEGABYTE_OF_ZEROS) + packer.flush(zlib.Z_FULL_FLUSH)
        for _ in range(2000):
            writer.write(block)
            await writer.drain()

    site.pages["/"] = bomb
    tracemalloc.start()
    try:
        got = await downloader.get(site.url())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert got.cut
    assert len(got.body) == MAX_BYTES
    assert peak < 40_000_000


async def test_a_page_without_end_is_cut(site: Website, downloader: Downloader) -> None:
    async def endless(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            writer.write(b"more " * 10_000)
            await writer.drain()

    site.pages["/"] = endless
    got = await downloader.get(site.url(), max_bytes=100_000)
    assert (got.cut, len(got.body)) == (True, 100_000)
    async with asyncio.timeout(10):
        await site.gone.wait()


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(b"packed")),
        ("x-gzip", gzip.compress(b"packed")),
        ("deflate", zlib.compress(b"packed")),
        ("deflate", zlib.compress(b"packed")[2:-4]),
        ("identity", b"packed"),
        ("", b"packed"),
    ],
)
async def test_packed_bodies_are_unpacked(
    site: Website, downloader: Downloader, coding: str, body: bytes
) -> None:
    site.pages["/"] = answer(body, headers={"Content-Encoding": coding})
    assert (await downloader.get(site.url())).body == b"packed"


@pytest.mark.parametrize(
    ("coding", "body"),
    [("gzip", b"not packed"), ("br", b"x"), ("gzip, gzip", b"x"), ("deflate", b"\xff\xff")],
)
async def test_a_body_that_can_not_be_unpacked_is_a_failure(
    site: Website, downloader: Downloader, coding: str, body: bytes
) -> None:
    site.pages["/"] = answer(body, headers={"Content-Encoding": coding})
    with pytest.raises(ToolFailure, match="can't be unpacked"):
        await downloader.get(site.url())


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (b"", "proper HTTP"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "proper HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "proper HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "proper HTTP"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "proper HTTP"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000, "proper HTTP"),
    ],
)
async def test_what_is_no_http_is_a_failure(
    site: Website, downloader: Downloader, sent: bytes, words: str
) -> None:
    site.pages["/"] = sent
    with pytest.raises(ToolFailure, match=words):
        await downloader.get(site.url())


async def test_a_silent_and_a_dripping_site_are_given_up(site: Website) -> None:
    async def silent(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async def dripping(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            writer.write(b".")
            await writer.drain()
            await asyncio.sleep(0.01)  # the pace of the page, not of the test

    borders = Borders.of([site.authority])
    site.pages["/silent"], site.pages["/dripping"] = silent, dripping
    with pytest.raises(ToolFailure, match=r"didn't answer within 0\.1 s"):
        await Downloader(lambda: borders, proxies=dict, idle_s=0.1).get(site.url("/silent"))
    with pytest.raises(ToolFailure, match=r"took longer than 0\.3 s"):
        await Downloader(lambda: borders, proxies=dict, total_s=0.3).get(site.url("/dripping"))


async def test_cancelling_ends_the_request(site: Website, downloader: Downloader) -> None:
    async def silent(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    site.pages["/"] = silent
    task = asyncio.create_task(downloader.get(site.url()))
    async with asyncio.timeout(10):
        await site.came.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await site.gone.wait()
    assert task.cancelled()
