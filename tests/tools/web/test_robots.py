from __future__ import annotations

import asyncio

import pytest

from tests.support.website import Asked, Website, answer
from tools.contract import ToolFailure
from tools.web.download import PRODUCT, Downloader
from tools.web.networks import Borders
from tools.web.robots import ERROR_KEPT_S, KEPT_S, MAX_SITES, Robots, relevant

FORBIDDEN = "asks programs not to read"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def robots(clock: Clock) -> Robots:
    return Robots(PRODUCT, clock)


async def allowed(robots: Robots, url: str, downloader: Downloader) -> bool:
    try:
        await robots.check(url, downloader)
    except ToolFailure as failure:
        if FORBIDDEN not in str(failure):
            raise
        return False
    return True


@pytest.mark.parametrize(
    ("rules", "path", "may"),
    [
        ("", "/x", True),
        ("User-agent: *\nDisallow: /", "/x", False),
        ("User-agent: *\nDisallow:", "/x", True),
        ("User-agent: *\nDisallow: /private", "/private/x", False),
        ("User-agent: *\nDisallow: /private", "/public", True),
        ("User-agent: *\nDisallow: /\nAllow: /open", "/open/x", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/a.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/a.pdfx", True),
        ("User-agent: *\nDisallow: /?s=", "/?s=x", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: pet_mode\nDisallow: /no", "/x", True),
        ("User-agent: *\nDisallow:\n\nUser-agent: Pet_Mode/2.0\nDisallow: /", "/x", False),
        ("User-agent: other\nUser-agent: pet_mode\nDisallow: /", "/x", False),
        ("User-agent: pet_mode_other\nDisallow: /", "/x", True),
        ("User-agent: pet\nDisallow: /", "/x", True),
        ("user agent pet_mode\ndisallow /", "/x", False),
        ("<!doctype html><title>Welcome</title>", "/x", True),
        ("User-agent: *\nDisallow: /%E4%BD%A0", "/你", False),
    ],
)
async def test_rules_are_kept(
    site: Website, downloader: Downloader, robots: Robots, rules: str, path: str, may: bool
) -> None:
    site.pages["/robots.txt"] = answer(rules, kind="text/plain")
    assert await allowed(robots, site.url(path), downloader) is may


@pytest.mark.parametrize("status", [401, 403, 404, 410, 429])
async def test_no_robots_txt_allows_everything(
    site: Website, downloader: Downloader, robots: Robots, status: int
) -> None:
    site.pages["/robots.txt"] = answer("User-agent: *\nDisallow: /", status=status)
    assert await allowed(robots, site.url("/x"), downloader)


async def test_one_that_can_not_be_had_allows_nothing_and_is_asked_again_soon(
    site: Website, downloader: Downloader, robots: Robots, clock: Clock
) -> None:
    site.pages["/robots.txt"] = answer("", status=503)
    for _ in range(2):
        with pytest.raises(ToolFailure, match=r"no robots\.txt \(HTTP 503\)"):
            await robots.check(site.url("/x"), downloader)
    assert site.paths() == ["/robots.txt"]
    site.pages["/robots.txt"] = answer("")
    clock.now += ERROR_KEPT_S
    assert await allowed(robots, site.url("/x"), downloader)


async def test_a_site_that_is_not_reached_allows_nothing(robots: Robots) -> None:
    async with Website() as gone:
        pass
    borders = Borders.of([gone.authority])
    with pytest.raises(ToolFailure, match="nothing listens there"):
        await robots.check(gone.url("/x"), Downloader(lambda: borders, proxies=dict))


async def test_rules_are_kept_for_an_hour(
    site: Website, downloader: Downloader, robots: Robots, clock: Clock
) -> None:
    site.pages["/robots.txt"] = answer("User-agent: *\nDisallow: /a")
    assert not await allowed(robots, site.url("/a"), downloader)
    assert await allowed(robots, site.url("/b"), downloader)
    assert len(site.asked) == 1
    clock.now += KEPT_S
    assert await allowed(robots, site.url("/b"), downloader)
    assert len(site.asked) == 2


async def test_only_so_many_sites_are_remembered(
    site: Website, downloader: Downloader, robots: Robots, clock: Clock
) -> None:
    for number in range(MAX_SITES + 20):
        robots._remember(f"http://{number}.example", 404, KEPT_S)
    assert len(robots._kept) == MAX_SITES


async def test_a_redirect_of_robots_txt_to_a_private_place_is_not_followed(
    site: Website, downloader: Downloader, robots: Robots
) -> None:
    site.redirect("/robots.txt", "http://169.254.169.254/robots.txt")
    with pytest.raises(ToolFailure, match="only public addresses"):
        await robots.check(site.url("/x"), downloader)


async def test_a_robots_txt_without_end_is_read_to_its_limit(
    site: Website, downloader: Downloader, robots: Robots
) -> None:
    async def endless(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /no\n")
        while True:
            writer.write(b"# nothing\n" * 1000)
            await writer.drain()

    site.pages["/robots.txt"] = endless
    assert not await allowed(robots, site.url("/no"), downloader)


async def test_robots_and_rules_by_the_thousand_are_read_in_one_go(
    site: Website, downloader: Downloader, robots: Robots
) -> None:
    """18,000 robots times 18,000 rules would be 300 million entries."""
    many = "".join(f"User-agent: a{number}\n" for number in range(18_000))
    site.pages["/robots.txt"] = answer(f"{many}User-agent: *\n" + "Allow: /\n" * 18_000 + "Disallow: /no\n")
    async with asyncio.timeout(20):
        assert not await allowed(robots, site.url("/no"), downloader)


def test_other_robots_keep_their_groups_but_not_their_names() -> None:
    text = "User-agent: a # x\nUSERAGENT: b\nDisallow: /\nuser agent: PET_MODE\nDisallow: /b\nSitemap: x"
    assert relevant(text, PRODUCT).split("\n") == [
        "user-agent: another",
        "user-agent: another",
        "Disallow: /",
        "user-agent: pet_mode",
        "Disallow: /b",
        "Sitemap: x",
    ]
