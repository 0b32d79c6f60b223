"""Calls that fail, hang, ignore everything or are cancelled, each for itself."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping
from typing import Any

import pytest

from server.agent.desk import GRACE_S
from server.agent.loop import run_tools
from server.config.schema import ToolOverride
from tests.agent.loop.workshop import DONE, Workshop, call, calls, takes, tool
from tools.contract import CallContext, DataPart, ToolFailure, ToolInfo, ToolResult
from tools.threads import run_blocking

Arguments = Mapping[str, Any]


async def forever(arguments: Arguments, context: CallContext) -> ToolResult:
    await asyncio.Event().wait()
    raise AssertionError


async def test_one_failing_sibling_takes_no_other_results_along(shop: Workshop) -> None:
    async def fails(arguments: Arguments, context: CallContext) -> ToolResult:
        raise ToolFailure("the disk is full")

    async def breaks(arguments: Arguments, context: CallContext) -> ToolResult:
        raise KeyError("/home/someone/secret")

    async def cancels(arguments: Arguments, context: CallContext) -> ToolResult:
        raise asyncio.CancelledError

    names = ("a__good", "a__fails", "a__breaks", "a__cancels", "a__slow", "a__last")
    shop.provider.script(calls(*(call(name, {}) for name in names)), DONE)
    outcome = await shop.run(
        tool("a__good", "one"),
        tool("a__fails", fails),
        tool("a__breaks", breaks),
        tool("a__cancels", cancels),
        tool("a__slow", forever),
        tool("a__last", "six"),
        bounds={"a__slow": ToolOverride(timeout_s=0.01)},
    )
    assert [entry.outcome for entry in outcome.trace] == [
        "ok",
        "error",
        "error",
        "cancelled",
        "timeout",
        "ok",
    ]
    assert [entry.outcome for entry in outcome.trace] == [event.outcome for event in in_order(shop)]
    assert "the disk is full" in shop.results()[1]
    assert all("/home" not in text and "Traceback" not in text for text in shop.results())
    assert outcome.stopped == "answered"


def in_order(shop: Workshop) -> list[Any]:
    return sorted(shop.ended, key=lambda event: event.call_id)


async def test_a_validation_error_says_what_is_wrong_and_echoes_what_was_sent_once(shop: Workshop) -> None:
    made = tool("a__work", schema=takes(count="integer", words="array"), hint="Give a count.")
    long = "unmistakable" * 400
    shop.provider.script(calls(call("a__work", {"count": long, "words": 7, "more": 1})), DONE)
    outcome = await shop.run(made)
    told = shop.results()[0]
    assert made.ran == []
    assert "count must be of type integer" in told
    assert "words must be of type array" in told
    assert told.count("unmistakable" * 3) <= told.count("unmistakable") <= 500 // len("unmistakable")
    assert told.count("Sent:") == 1
    assert "Give a count." in told
    assert len(told) < 1500
    assert outcome.trace[0].outcome == "error"


@pytest.mark.parametrize(
    ("sent", "ran"),
    [
        ({"n": "5"}, {"n": 5}),
        ({"n": 5, "on": "true"}, {"n": 5, "on": True}),
        ({"n": 5, "list": "[1]"}, {"n": 5, "list": [1]}),
        ({"n": 5, "on": None, "list": None}, {"n": 5}),
        ({"n": "five"}, None),
        ({"n": "5.5"}, None),
        ({"n": None}, None),
        ({}, None),
    ],
)
async def test_text_that_can_mean_only_one_value_is_that_value(
    shop: Workshop, sent: dict[str, Any], ran: dict[str, Any] | None
) -> None:
    schema = {**takes(n="integer", on="boolean", list="array"), "required": ["n"]}
    made = tool("a__work", schema=schema)
    shop.provider.script(calls(call("a__work", sent)), DONE)
    await shop.run(made)
    assert made.ran == ([] if ran is None else [ran])


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"n": {"type": "nonsense"}}},
        {"type": "object", "properties": {"n": {"$ref": "https://example.org/schema.json"}}},
        {"type": "object", "properties": {"n": {"$ref": "#/$defs/Missing"}}},
        {"type": 17},
        {"$schema": "https://example.org/unknown", "type": "object"},
        {"type": "object", "properties": {"n": {"type": "string", "pattern": "^(a+)+$"}}},
    ],
)
async def test_a_tool_whose_schema_is_broken_is_still_usable(shop: Workshop, schema: dict[str, Any]) -> None:
    made = tool("a__work", schema=schema)
    shop.provider.script(calls(call("a__work", {"n": "a" * 40 + "!"})), DONE)
    outcome = await shop.run(made)
    assert [entry.outcome for entry in outcome.trace] == ["ok"]


async def test_a_result_is_checked_against_its_output_schema(shop: Workshop) -> None:
    async def work(arguments: Arguments, context: CallContext) -> ToolResult:
        return ToolResult((DataPart({"celsius": arguments["t"]}),))

    made = tool("a__work", work, schema={"type": "object"}, output_schema=takes(celsius="number"))
    shop.provider.script(calls(call("a__work", {"t": 21}), call("a__work", {"t": "warm"})), DONE)
    outcome = await shop.run(made)
    assert [entry.outcome for entry in outcome.trace] == ["ok", "error"]
    assert shop.results()[0] == '{"celsius":21}'
    assert "celsius must be of type number" in shop.results()[1]


async def test_a_failure_carries_the_tools_hint_once_and_no_more_afterwards(shop: Workshop) -> None:
    async def fails(arguments: Arguments, context: CallContext) -> ToolResult:
        raise ToolFailure("no luck")

    shop.provider.script(
        *(calls(call("a__work", {"n": n}), call("a__work", {"n": -n})) for n in (1, 2)), DONE
    )
    await shop.run(tool("a__work", fails, takes(n="integer"), hint="Try a smaller number."))
    hinted = ["Try a smaller number." in text for text in shop.results()]
    assert hinted == [True, True, False, False]
    assert "Don't call it once more" in shop.results()[2]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("vision__screen_shot", "desktop can't be seen"),
        ("tool__web_search", "simpler query"),
        ("tool__web_fetch", "max_chars"),
        ("tool__read_file", "relative to the workspace"),
        ("timeemi__get_date_and_time", "without arguments"),
        ("timeemi__roll_dice", "1 to 100"),
        ("timeemi__roll_dice_by_current_time", "hour, minute or second"),
        ("other__thing", "once more with the same arguments"),
    ],
)
async def test_every_tool_has_the_hint_of_the_design(shop: Workshop, name: str, words: str) -> None:
    async def fails(arguments: Arguments, context: CallContext) -> ToolResult:
        raise ToolFailure("no luck")

    shop.provider.script(calls(call(name, {})), DONE)
    await shop.run(tool(name, fails))
    assert words in shop.results()[0]


async def test_a_call_that_was_not_allowed_is_not_tried_again(shop: Workshop) -> None:
    async def refused(arguments: Arguments, context: CallContext) -> ToolResult:
        raise ToolFailure("screenshots are denied by lab.toml", denied=True)

    made = tool("vision__screen_shot", refused, {"type": "object"})
    shop.provider.script(*(calls(call("vision__screen_shot", {"n": n})) for n in (1, 2)), DONE)
    outcome = await shop.run(made)
    assert [entry.outcome for entry in outcome.trace] == ["denied", "denied"]
    assert len(made.ran) == 1
    assert all("denied" not in text for text in shop.results())


async def test_a_call_has_its_own_time_and_a_timed_out_one_is_cancelled(shop: Workshop) -> None:
    cleaned = asyncio.Event()

    async def slow(arguments: Arguments, context: CallContext) -> ToolResult:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()
        raise AssertionError

    shop.provider.script(calls(call("a__slow", {})), DONE)
    outcome = await shop.run(tool("a__slow", slow, timeout_s=0.01), settings={"timeout_s": 1000})
    assert [entry.outcome for entry in outcome.trace] == ["timeout"]
    assert cleaned.is_set()
    assert "no result within 0.01 s" in shop.results()[0]
    assert outcome.stopped == "answered"


async def test_a_tool_that_ignores_cancellation_never_blocks_the_loop(shop: Workshop) -> None:
    let_go = asyncio.Event()
    ended = asyncio.Event()

    async def stubborn(arguments: Arguments, context: CallContext) -> ToolResult:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        context.progress(note="still here")
        ended.set()
        raise ToolFailure("nobody hears this")

    shop.provider.script(calls(call("a__stubborn", {}), call("a__good", {})), DONE)
    outcome = await shop.run(tool("a__stubborn", stubborn, timeout_s=0.01), tool("a__good"))
    assert [entry.outcome for entry in outcome.trace] == ["timeout", "ok"]
    seen = len(shop.events)
    let_go.set()
    await ended.wait()
    assert len(shop.events) == seen


async def test_stopping_the_turn_stops_every_call_and_waits_for_their_clean_up(shop: Workshop) -> None:
    running = asyncio.Semaphore(0)
    cleaned: list[str] = []

    async def work(arguments: Arguments, context: CallContext) -> ToolResult:
        try:
            running.release()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(arguments["name"])
        raise AssertionError

    async def stubborn(arguments: Arguments, context: CallContext) -> ToolResult:
        running.release()
        while True:
            try:
                await let_go.wait()
                return ToolResult.text("late")
            except asyncio.CancelledError:
                continue

    let_go = asyncio.Event()
    asked = [call("a__work", {"name": name}) for name in "ab"]
    shop.provider.script(calls(*asked, call("a__stubborn", {})), DONE)
    job = await shop.job(tool("a__work", work, takes(name="string")), tool("a__stubborn", stubborn))
    async with asyncio.timeout(20):
        loop = asyncio.create_task(run_tools(job, shop.events.append))
        for _ in range(3):
            await running.acquire()
        loop.cancel()
        with pytest.raises(asyncio.CancelledError):
            await loop
    assert sorted(cleaned) == ["a", "b"]
    assert [event.outcome for event in shop.ended] == ["cancelled"] * 3
    let_go.set()


async def test_the_time_in_which_the_owner_is_asked_does_not_count(shop: Workshop) -> None:
    asked, answered = asyncio.Event(), asyncio.Event()

    async def ask() -> bool:
        asked.set()
        await answered.wait()
        return True

    async def shoot(arguments: Arguments, context: CallContext) -> ToolResult:
        allowed = await context.consent("screenshot", "the whole screen")
        return ToolResult.text(f"allowed: {allowed}")

    async def answer() -> None:
        await asked.wait()
        await asyncio.sleep(0.2)
        answered.set()

    shop.turn.ask = ask
    shop.provider.script(calls(call("vision__screen_shot", {})), DONE)
    answering = asyncio.create_task(answer())
    outcome = await shop.run(tool("vision__screen_shot", shoot, timeout_s=0.1))
    await answering
    assert outcome.trace[0].raw_result == "allowed: True"


async def test_after_the_consent_the_time_goes_on(shop: Workshop) -> None:
    async def shoot(arguments: Arguments, context: CallContext) -> ToolResult:
        await context.consent("screenshot", "the whole screen")
        return await forever(arguments, context)

    shop.provider.script(calls(call("vision__screen_shot", {})), DONE)
    outcome = await shop.run(tool("vision__screen_shot", shoot, timeout_s=0.05))
    assert outcome.trace[0].outcome == "timeout"


async def test_eight_blocking_calls_run_at_the_same_time(shop: Workshop) -> None:
    """asyncio's own pool has six threads on two cores: the seventh would wait, and nobody would come here."""
    together = threading.Barrier(8, timeout=15)

    async def block(arguments: Arguments, context: CallContext) -> ToolResult:
        place = await run_blocking(together.wait, "a__block")
        return ToolResult.text(str(place))

    shop.provider.script(calls(*(call("a__block", {"n": n}) for n in range(8))), DONE)
    outcome = await shop.run(tool("a__block", block, takes(n="integer")), settings={"timeout_s": 20})
    assert sorted(entry.raw_result for entry in outcome.trace) == [str(n) for n in range(8)]


async def test_a_blocking_call_that_hangs_is_left_behind(shop: Workshop) -> None:
    let_go = threading.Event()

    async def block(arguments: Arguments, context: CallContext) -> ToolResult:
        await run_blocking(let_go.wait, "a__block")
        return ToolResult.text("late")

    shop.provider.script(calls(call("a__block", {})), DONE)
    outcome = await shop.run(tool("a__block", block, timeout_s=0.01))
    let_go.set()
    assert outcome.trace[0].outcome == "timeout"


async def test_what_is_no_result_is_a_failure(shop: Workshop) -> None:
    async def work(arguments: Arguments, context: CallContext) -> Any:
        return "just text"

    shop.provider.script(calls(call("a__work", {})), DONE)
    outcome = await shop.run(tool("a__work", work))
    assert outcome.trace[0].outcome == "error"


async def test_a_tool_that_left_the_registry_meanwhile_is_answered(shop: Workshop) -> None:
    made = tool("a__gone")

    class Moving:
        def tools(self) -> list[ToolInfo]:
            return [made.info]

        def get(self, name: str) -> None:
            return None

    shop.provider.script(calls(call("a__gone", {})), DONE)
    outcome = await shop.run(registry=Moving())
    assert outcome.trace[0].outcome == "error"


def test_the_grace_period_is_short() -> None:
    assert 0 < GRACE_S <= 3


async def test_every_call_is_timed(shop: Workshop) -> None:
    async def work(arguments: Arguments, context: CallContext) -> ToolResult:
        await run_blocking(lambda: time.sleep(0.02), "a__work")
        return ToolResult.text("ok")

    shop.provider.script(calls(call("a__work", {})), DONE)
    outcome = await shop.run(tool("a__work", work))
    assert outcome.trace[0].ms >= 20
    assert shop.ended[0].ms == outcome.trace[0].ms
