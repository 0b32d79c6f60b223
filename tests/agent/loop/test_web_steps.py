"""Web calls in the loop: the web machine decides, the loop does as it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from server.agent.web_machine import WebMachine
from tests.agent.loop.workshop import DONE, Made, Workshop, call, calls, takes, tool
from tools.contract import CallContext, Findings, SearchHit, TextPart, ToolFailure, ToolResult

FOUND = "https://example.org/found"
ASKED = "https://example.org/asked"


def web() -> tuple[Made, Made]:
    async def search(arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        hits = [SearchHit(1, "Found", FOUND)]
        return ToolResult((TextPart("1. Found"),), Findings(urls=[FOUND], search=hits))

    async def fetch(arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        if "missing" in arguments["url"]:
            raise ToolFailure("404 Not Found")
        return ToolResult((TextPart("a page"),), Findings(fetched=arguments["url"]))

    return (
        tool("tool__web_search", search, takes(query="string")),
        tool("tool__web_fetch", fetch, takes(url="string")),
    )


async def test_a_screenshot_and_a_search_run_in_step_one_and_the_fetch_in_step_two(shop: Workshop) -> None:
    search, fetch = web()
    shop.provider.script(
        calls(
            call("vision__screen_shot", {}),
            call("tool__web_search", {"query": "cats"}),
            call("tool__web_fetch", {"url": ASKED}),
        ),
        calls(call("tool__web_fetch", {"url": FOUND})),
        DONE,
    )
    outcome = await shop.run(search, fetch, tool("vision__screen_shot", "the screen"), web=WebMachine(2, 4))
    assert [(entry.name, entry.step, entry.outcome) for entry in outcome.trace] == [
        ("screen_shot", 1, "ok"),
        ("web_search", 1, "ok"),
        ("web_fetch", 1, "deferred"),
        ("web_fetch", 2, "ok"),
    ]
    assert [event.outcome for event in shop.ended if event.name == "tool__web_fetch"] == ["deferred", "ok"]
    told = shop.results(1)
    assert told[2].startswith("Deferred:")
    assert ASKED in told[2]
    assert FOUND in told[2]
    assert fetch.ran == [{"url": FOUND}]


async def test_a_budget_that_is_used_up_is_told_and_runs_nothing(shop: Workshop) -> None:
    search, fetch = web()
    shop.provider.script(*(calls(call("tool__web_search", {"query": f"cats {n}"})) for n in range(3)), DONE)
    outcome = await shop.run(search, fetch, web=WebMachine(2, 4))
    assert [entry.outcome for entry in outcome.trace] == ["ok", "ok", "error"]
    assert "used up" in shop.results()[2]
    assert len(search.ran) == 2


async def test_arguments_that_do_not_fit_use_up_no_budget(shop: Workshop) -> None:
    search, fetch = web()
    bad = calls(call("tool__web_search", {"words": "cats"}), call("tool__web_search", "{"))
    shop.provider.script(bad, calls(call("tool__web_search", {"query": "cats"})), DONE)
    outcome = await shop.run(search, fetch, web=WebMachine(1, 1))
    assert [entry.outcome for entry in outcome.trace] == ["error", "error", "ok"]


async def test_a_status_is_reported_and_never_ends_the_turn(shop: Workshop) -> None:
    search, fetch = web()
    shop.provider.script(calls(call("tool__web_fetch", {"url": "https://example.org/missing"})), DONE)
    outcome = await shop.run(search, fetch, web=WebMachine(1, 1))
    assert (outcome.stopped, outcome.trace[0].error) == ("answered", "404 Not Found")
