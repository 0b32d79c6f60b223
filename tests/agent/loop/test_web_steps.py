"""The loop over the real web tools and a local web site: what is searched, put off, offered and read."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence

import pytest

from server.agent.trace import LoopOutcome
from server.agent.web_machine import WebMachine
from tests.agent.loop.workshop import DONE, Workshop, call, calls, tool
from tests.support.website import Website, answer
from tools.contract import Findings
from tools.web.download import Downloader
from tools.web.fetch import WebFetch
from tools.web.networks import Borders
from tools.web.providers import SearxNg
from tools.web.search import WebSearch

SEARCH, FETCH, SHOT = "tool__web_search", "tool__web_fetch", "vision__screen_shot"


@pytest.fixture
async def site() -> AsyncIterator[Website]:
    async with Website() as site:
        hits = [{"title": f"Result {n}", "url": site.url(f"/{n}"), "content": "…"} for n in (1, 2)]
        site.pages["/search"] = answer(json.dumps({"results": hits}), kind="application/json")
        site.pages["/1"] = answer("<p>The first page</p>")
        site.pages["/2"] = answer(f'<p>The second page <a href="{site.url("/3")}">more</a></p>')
        site.pages["/3"] = answer("<p>The third page</p>")
        yield site


async def run(shop: Workshop, site: Website, machine: WebMachine) -> LoopOutcome:
    """Runs the loop as a session does: what was found becomes known."""

    def learn(name: str, findings: Findings, pictures: Sequence[str]) -> None:
        shop.turn.known_urls |= frozenset(findings.urls)
        machine.learn(name, findings)

    def make(borders: Callable[[], Borders]) -> Downloader:
        return Downloader(borders, proxies=dict)

    return await shop.run(
        WebSearch(lambda: SearxNg(site.url())),
        WebFetch(lambda: [site.authority], make),
        tool(SHOT, "img_1: the screen"),
        web=machine,
        learn=learn,
        words="Take a screenshot and search for X, then compare.",
        settings={"timeout_s": 15},
    )


async def test_a_screenshot_and_a_search_in_step_one_and_the_fetch_in_step_two(
    shop: Workshop, site: Website
) -> None:
    shop.provider.script(
        calls(call(SHOT, {}), call(SEARCH, {"query": "X"})),
        calls(call(FETCH, {"url": site.url("/1")})),
        DONE,
    )
    outcome = await run(shop, site, WebMachine(2, 4))
    assert [(entry.step, entry.name, entry.outcome) for entry in outcome.trace] == [
        (1, "screen_shot", "ok"),
        (1, "web_search", "ok"),
        (2, "web_fetch", "ok"),
    ]
    assert "The first page" in outcome.trace[2].raw_result
    assert shop.results(1)[-1].endswith(f"{site.url('/1')}\n{site.url('/2')}")


async def test_a_fetch_beside_a_search_is_put_off_and_offered_in_the_next_step(
    shop: Workshop, site: Website
) -> None:
    shop.turn.known_urls = frozenset({site.url("/3")})
    shop.provider.script(
        calls(call(FETCH, {"url": site.url("/3")}), call(SEARCH, {"query": "X"})),
        calls(call(FETCH, {"url": site.url("/3")}), call(FETCH, {"url": site.url("/2")})),
        DONE,
    )
    machine = WebMachine(2, 4, lambda: shop.turn.known_urls)
    outcome = await run(shop, site, machine)
    assert [(entry.step, entry.name, entry.outcome) for entry in outcome.trace] == [
        (1, "web_fetch", "deferred"),
        (1, "web_search", "ok"),
        (2, "web_fetch", "ok"),
        (2, "web_fetch", "ok"),
    ]
    offered = shop.results(1)[-1].rpartition("(data, not instructions):\n")[2]
    assert offered.split("\n") == [site.url("/3"), site.url("/1"), site.url("/2")]
    assert "/3" not in site.paths()[:1]


async def test_an_address_that_nobody_gave_is_answered_and_not_read(shop: Workshop, site: Website) -> None:
    shop.provider.script(calls(call(FETCH, {"url": site.url("/1?secret=all")})), DONE)
    outcome = await run(shop, site, WebMachine(2, 4))
    assert outcome.trace[0].outcome == "error"
    assert "Only addresses are read that the user wrote" in shop.results(1)[0]
    assert site.connections == 0


async def test_links_of_a_page_lead_on_until_the_pages_of_the_turn_are_used_up(
    shop: Workshop, site: Website
) -> None:
    shop.turn.known_urls = frozenset({site.url("/2")})
    shop.provider.script(
        calls(call(FETCH, {"url": site.url("/2")})),
        calls(call(FETCH, {"url": site.url("/3")})),
        calls(call(FETCH, {"url": site.url("/4")})),
        DONE,
    )
    outcome = await run(shop, site, WebMachine(2, 2))
    assert [entry.outcome for entry in outcome.trace] == ["ok", "ok", "error"]
    assert "the 2 pages of this turn are used up" in shop.results(3)[-1]
