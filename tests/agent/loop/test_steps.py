"""A turn's loop from beginning to end: steps, order, what ends it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from server.agent.desk import MAX_CALLS
from server.agent.trace import CallProgress
from tests.agent.loop.workshop import DONE, Workshop, call, calls, takes, tool
from tests.fakes.openai_server import Reply, Status
from tools.contract import CallContext, ToolFailure, ToolResult


async def test_a_model_that_calls_nothing_ends_the_loop_at_once(shop: Workshop) -> None:
    shop.provider.script(Reply("Nothing to do.", usage=(11, 4)))
    outcome = await shop.run(tool("clock__now"))
    assert (outcome.stopped, outcome.trace, outcome.text) == ("answered", [], "Nothing to do.")
    assert (outcome.usage.prompt, outcome.usage.completion) == (11, 4)
    assert shop.events == []


async def test_without_tools_no_model_is_asked(shop: Workshop) -> None:
    outcome = await shop.run()
    assert outcome.stopped == "no_tools"
    assert shop.provider.requests == []


async def test_results_come_in_the_order_of_the_calls_and_steps_are_chained(shop: Workshop) -> None:
    fast_done = asyncio.Event()

    async def slow(arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        await fast_done.wait()
        return ToolResult.text("slow result")

    async def fast(arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        fast_done.set()
        return ToolResult.text("fast result")

    first = calls(call("a__slow", {}, id="x1"), call("a__fast", {}, id="x2"), usage=(10, 2))
    shop.provider.script(first, calls(call("a__next", {}), usage=(20, 3)), Reply("done", usage=(30, 1)))
    outcome = await shop.run(tool("a__slow", slow), tool("a__fast", fast), tool("a__next", "third"))
    assert shop.results(1) == ["slow result", "fast result"]
    assert [message.get("tool_call_id") for message in shop.sent(1)[-2:]] == ["x1", "x2"]
    assert shop.results(2) == ["slow result", "fast result", "third"]
    assert [(entry.server, entry.name, entry.step) for entry in outcome.trace] == [
        ("a", "slow", 1),
        ("a", "fast", 1),
        ("a", "next", 2),
    ]
    assert [entry.raw_result for entry in outcome.trace] == ["slow result", "fast result", "third"]
    assert [event.name for event in shop.ended] == ["a__fast", "a__slow", "a__next"]
    assert (outcome.usage.prompt, outcome.usage.completion) == (60, 6)
    assert len({event.call_id for event in shop.started}) == 3


async def test_no_more_than_max_parallel_run_at_the_same_time(shop: Workshop) -> None:
    running = most = 0

    async def work(arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return ToolResult.text("ok")

    numbered = [call("a__work", {"n": n}) for n in range(12)]
    shop.provider.script(calls(*numbered), DONE)
    outcome = await shop.run(tool("a__work", work, takes(n="integer")), settings={"max_parallel": 3})
    assert most == 3
    assert len(outcome.trace) == 12


async def test_64_calls_in_one_step_are_all_answered_in_order(shop: Workshop) -> None:
    async def work(arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        return ToolResult.text(str(arguments["n"]))

    shop.provider.script(calls(*(call("a__work", {"n": n}) for n in range(70))), DONE)
    outcome = await shop.run(tool("a__work", work, takes(n="integer")))
    assert shop.results()[:MAX_CALLS] == [str(n) for n in range(MAX_CALLS)]
    assert all("Too many calls" in text for text in shop.results()[MAX_CALLS:])
    assert [entry.outcome for entry in outcome.trace] == ["ok"] * 64 + ["deferred"] * 6
    assert len(shop.ended) == 70


async def test_the_loop_reaches_its_bound_and_says_so(shop: Workshop) -> None:
    shop.provider.script(*(calls(call("a__work", {"n": n})) for n in range(9)))
    outcome = await shop.run(tool("a__work", "more", takes(n="integer")), settings={"max_steps": 3})
    assert outcome.stopped == "max_steps"
    assert [entry.step for entry in outcome.trace] == [1, 2, 3]
    assert len(shop.provider.requests) == 3


@pytest.mark.parametrize("fails", [False, True])
async def test_the_same_call_again_and_again_is_nudged_the_third_time_and_ends_the_fifth(
    shop: Workshop, fails: bool
) -> None:
    async def work(arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        if fails:
            raise ToolFailure("it is broken")
        return ToolResult.text("the same")

    spellings = ['{"a": 1, "b": 2}', '{"b":2,"a":1}', ' {"a":1,"b":2}', '{"b": 2, "a": 1}', '{"a":1,"b":2}']
    shop.provider.script(*(calls(call("a__work", text)) for text in spellings))
    made = tool("a__work", work, takes(a="integer", b="integer"))
    outcome = await shop.run(made, settings={"max_steps": 20})
    assert outcome.stopped == "repeated"
    assert len(outcome.trace) == 5
    assert len(made.ran) == 2
    assert [entry.outcome for entry in outcome.trace[2:]] == ["error"] * 3
    assert "same call" in shop.results()[2]
    assert "denied" not in shop.results()[2]


async def test_equal_calls_in_one_step_are_no_repetition_and_nothing_is_cached(shop: Workshop) -> None:
    rolled = iter(range(100))

    async def roll(arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        return ToolResult.text(str(next(rolled)))

    shop.provider.script(
        calls(*(call("dice__roll", {}) for _ in range(6))), calls(call("dice__roll", {})), DONE
    )
    outcome = await shop.run(tool("dice__roll", roll))
    assert outcome.stopped == "answered"
    assert [entry.raw_result for entry in outcome.trace] == [str(n) for n in range(7)]


@pytest.mark.parametrize("status", [401, 404, 500])
async def test_a_tool_model_that_can_not_be_reached_is_an_outcome(shop: Workshop, status: int) -> None:
    shop.provider.script(calls(call("clock__now", {})), Status(status))
    outcome = await shop.run(tool("clock__now", "noon"))
    assert outcome.stopped == "unreachable"
    assert [entry.raw_result for entry in outcome.trace] == ["noon"]


async def test_a_provider_that_is_gone_is_an_outcome(shop: Workshop) -> None:
    job = await shop.job(tool("clock__now"))
    await shop.provider.stop()
    from server.agent.loop import run_tools

    outcome = await run_tools(job, shop.events.append)
    assert (outcome.stopped, outcome.trace) == ("unreachable", [])


async def test_what_was_found_is_learned_before_the_next_step(shop: Workshop) -> None:
    async def search(arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        return ToolResult.text("1. A page", urls=["https://example.org/a"])

    async def broken(arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        raise ToolFailure("no")

    shop.provider.script(calls(call("x__search", {}), call("x__broken", {})), DONE)
    outcome = await shop.run(tool("x__search", search), tool("x__broken", broken))
    assert [name for name, _ in shop.learned] == ["x__search"]
    assert outcome.trace[0].findings.urls == ["https://example.org/a"]


async def test_progress_is_told_while_a_call_runs_and_never_after_it(shop: Workshop) -> None:
    kept: list[CallContext] = []

    async def work(arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        context.progress(1, 2, "half")
        kept.append(context)
        return ToolResult.text("ok")

    shop.provider.script(calls(call("a__work", {})), DONE)
    await shop.run(tool("a__work", work))
    kept[0].progress(2, 2, "too late")
    told = [event for event in shop.events if isinstance(event, CallProgress)]
    assert [(event.done, event.total, event.note) for event in told] == [(1, 2, "half")]


async def test_the_tool_model_is_told_state_and_router_and_no_persona(shop: Workshop) -> None:
    shop.provider.script(DONE)
    await shop.run(tool("clock__now"), words="What time is it?")
    router, state, user = shop.sent()
    assert (router["role"], state["role"], user) == (
        "system",
        "system",
        {"role": "user", "content": "What time is it?"},
    )
    name, _, pinned = state["content"].partition(": ")
    assert (name, json.loads(pinned)) == ("TOOL_ROUTER_STATE", {})
    body = shop.provider.requests[0].body
    assert [item["function"]["name"] for item in body["tools"]] == ["clock__now"]
    assert not {"stream", "tool_choice", "parallel_tool_calls"} & set(body)
