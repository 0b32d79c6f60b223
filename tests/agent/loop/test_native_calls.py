"""Everything that providers and models do to native tool calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.agent.loop.workshop import DONE, Workshop, call, calls, takes, tool
from tests.fakes.openai_server import Reply, Status, Think

PLACE = takes(place="string")


def history(shop: Workshop) -> list[dict[str, Any]]:
    """The calls in the newest request."""
    return [item for message in shop.sent() for item in message.get("tool_calls", ())]


def paired(shop: Workshop) -> bool:
    """Whether the newest request has each call once, and right behind it its result."""
    ids = [item["id"] for item in history(shop)]
    answered = [message["tool_call_id"] for message in shop.sent() if message["role"] == "tool"]
    return ids == answered and len(set(ids)) == len(ids)


@pytest.mark.parametrize("finish", ["stop", "tool_calls", None, "function_call"])
async def test_calls_are_found_by_their_presence(shop: Workshop, finish: str | None) -> None:
    shop.provider.script(calls(call("clock__now", {}), finish=finish), DONE)
    outcome = await shop.run(tool("clock__now", "noon"))
    assert [entry.raw_result for entry in outcome.trace] == ["noon"]


async def test_a_reply_cut_by_the_length_limit_runs_none_of_its_calls(shop: Workshop) -> None:
    made = tool("clock__now")
    cut = calls(call("clock__now", {}), call("clock__now", '{"a'), finish="length")
    shop.provider.script(cut, DONE)
    outcome = await shop.run(made)
    assert made.ran == []
    assert [entry.outcome for entry in outcome.trace] == ["error", "error"]
    assert all("length limit" in text for text in shop.results())
    assert paired(shop)


@pytest.mark.parametrize("empty", ["", None, "null", "{}", "  ", '""'])
async def test_empty_and_null_arguments_are_no_arguments(shop: Workshop, empty: str | None) -> None:
    made = tool("clock__now")
    shop.provider.script(calls(call("clock__now", empty)), DONE)
    await shop.run(made)
    assert made.ran == [{}]
    assert json.loads(history(shop)[0]["function"]["arguments"]) in ({}, None, "") or empty == "{}"


@pytest.mark.parametrize(
    "written",
    [
        '```json\n{"place": "Oslo"}\n```',
        '{"place": "Oslo",}',
        "{'place': 'Oslo'}",
        '"{\\"place\\": \\"Oslo\\"}"',
        '{}{"place": "Oslo"}',
        '{"place": "Oslo"}{"place": "Oslo"}',
    ],
)
async def test_malformed_arguments_with_one_certain_meaning_are_repaired(
    shop: Workshop, written: str
) -> None:
    made = tool("map__find", schema=PLACE)
    shop.provider.script(calls(call("map__find", written)), DONE)
    await shop.run(made)
    assert made.ran == [{"place": "Oslo"}]
    assert json.loads(history(shop)[0]["function"]["arguments"]) == {"place": "Oslo"}


@pytest.mark.parametrize(
    "written",
    [
        '{"place": "Os',
        "place=Oslo",
        "[1, 2]",
        "17",
        '{"place": NaN}',
        '{"a":1}{"a":2}',
        "[" * 100_000,
        "true",
    ],
)
async def test_malformed_arguments_never_stay_in_the_history(shop: Workshop, written: str) -> None:
    made = tool("map__find", schema=PLACE)
    shop.provider.script(calls(call("map__find", written), call("map__find", {"place": "Rome"})), DONE)
    outcome = await shop.run(made)
    assert made.ran == [{"place": "Rome"}]
    assert [entry.outcome for entry in outcome.trace] == ["error", "ok"]
    assert json.loads(history(shop)[0]["function"]["arguments"]) == {}
    assert shop.results()[0].count(f"Sent: {written[:20]}") == 1
    assert len(shop.results()[0]) < 1500
    assert paired(shop)


async def test_arguments_that_came_as_an_object_go_back_as_text(shop: Workshop) -> None:
    made = tool("map__find", schema=PLACE)
    given = call("map__find")
    given["function"]["arguments"] = {"place": "Oslo"}
    shop.provider.script(calls(given), DONE)
    await shop.run(made)
    assert made.ran == [{"place": "Oslo"}]
    assert json.loads(history(shop)[0]["function"]["arguments"]) == {"place": "Oslo"}


@pytest.mark.parametrize("ids", [["", ""], ["same", "same"], [None, None], [7, 7], ["x" * 5000, ""]])
async def test_ids_that_are_empty_or_repeated_are_replaced_on_both_sides(
    shop: Workshop, ids: list[Any]
) -> None:
    twice = [call("map__find", {"place": place}, id=id) for place, id in zip("ab", ids, strict=True)]
    again = call("map__find", {"place": "c"}, id=ids[0])
    shop.provider.script(calls(*twice), calls(again), DONE)
    outcome = await shop.run(tool("map__find", schema=PLACE))
    assert len(outcome.trace) == 3
    assert paired(shop)
    assert all(isinstance(item["id"], str) and 0 < len(item["id"]) <= 200 for item in history(shop))


async def test_unknown_fields_of_message_and_call_go_back_unchanged(shop: Workshop) -> None:
    signed = call("clock__now", {}, id="a1", extra_content={"google": {"thought_signature": "sig=="}})
    signed["function"]["vendor"] = {"kept": True}
    shop.provider.script(Reply("Looking.", tool_calls=[signed], finish="tool_calls"), DONE)
    await shop.run(tool("clock__now"))
    assert history(shop) == [signed]


async def test_reasoning_that_came_in_a_field_goes_back_with_its_calls(shop: Workshop) -> None:
    shop.provider.script(Reply(Think("Hm."), tool_calls=[call("clock__now", {})]), DONE)
    await shop.run(tool("clock__now"))
    assert shop.sent()[-2]["reasoning_content"] == "Hm."


async def test_an_invented_name_is_answered_with_the_names_that_exist(shop: Workshop) -> None:
    shop.provider.script(calls(call("weather__today", {}), call("clock__now", {})), DONE)
    outcome = await shop.run(tool("clock__now", "noon"))
    unknown, known = shop.results()
    assert "does not exist" in unknown
    assert "clock__now" in unknown
    assert "denied" not in unknown
    assert known == "noon"
    assert [entry.outcome for entry in outcome.trace] == ["error", "ok"]


@pytest.mark.parametrize("name", ["", None, 17])
async def test_a_call_without_a_name_is_answered(shop: Workshop, name: Any) -> None:
    nameless = call("x", {})
    nameless["function"]["name"] = name
    shop.provider.script(calls(nameless), DONE)
    outcome = await shop.run(tool("clock__now"))
    assert outcome.stopped == "answered"
    assert "clock__now" in shop.results()[0]
    assert history(shop)[0]["function"]["name"]
    assert paired(shop)


@pytest.mark.parametrize("name", ["functions.clock__now", " clock__now", "Clock__Now", "now", "clock.now"])
async def test_a_name_that_can_mean_only_one_tool_is_that_tool(shop: Workshop, name: str) -> None:
    made = tool("clock__now")
    shop.provider.script(calls(call(name, {})), DONE)
    await shop.run(made, tool("dice__roll"))
    assert made.ran == [{}]
    assert history(shop)[0]["function"]["name"] == "clock__now"


async def test_a_name_that_no_provider_would_take_back_is_mended(shop: Workshop) -> None:
    shop.provider.script(calls(call("天气 today!" * 30, {})), DONE)
    await shop.run(tool("clock__now"))
    name = history(shop)[0]["function"]["name"]
    assert name.isascii()
    assert len(name) <= 64


async def test_text_beside_calls_and_thinking_never_count_as_the_answer(shop: Workshop) -> None:
    text = "<think>The user wants the time. clock__now</think>Let me look."
    shop.provider.script(calls(call("clock__now", {}), text=text), Reply("<think>Enough.</think>done"))
    outcome = await shop.run(tool("clock__now"))
    assert [entry.outcome for entry in outcome.trace] == ["ok"]
    assert outcome.text == "done"
    assert shop.sent()[-2]["content"] == "Let me look."


@pytest.mark.parametrize(
    "written",
    [
        '{"name": "map__find", "arguments": {"place": "Oslo"}}',
        '{"name": "map__find", "parameters": {"place": "Oslo"}}',
        '{"tool": "map__find", "args": {"place": "Oslo"}}',
        '{"type": "function", "function": {"name": "map__find", "arguments": "{\\"place\\": \\"Oslo\\"}"}}',
        '{"tool_calls": [{"name": "map__find", "arguments": {"place": "Oslo"}}]}',
        '```json\n{"name": "map__find", "arguments": {"place": "Oslo"}}\n```',
        '<tool_call>\n{"name": "map__find", "arguments": {"place": "Oslo"}}\n</tool_call>',
        "<tool_call><function=map__find>\n<parameter=place>\nOslo\n</parameter>\n</function></tool_call>",
        "<function=map__find><parameter=place>Oslo</parameter></function>",
        '[TOOL_CALLS][{"name": "map__find", "arguments": {"place": "Oslo"}}]',
        '<|python_tag|>{"name": "map__find", "parameters": {"place": "Oslo"}}',
        '<think>I need a map.</think>\n{"name": "map__find", "arguments": {"place": "Oslo"}}',
    ],
)
async def test_a_call_written_as_text_is_recovered_where_it_is_the_whole_message(
    shop: Workshop, written: str
) -> None:
    made = tool("map__find", schema=PLACE)
    shop.provider.script(Reply(written), DONE)
    outcome = await shop.run(made)
    assert made.ran == [{"place": "Oslo"}]
    assert outcome.text == "done"
    assert paired(shop)


async def test_several_calls_written_as_text_are_all_recovered(shop: Workshop) -> None:
    made = tool("map__find", schema=PLACE)
    listed = [{"name": "map__find", "arguments": {"place": place}} for place in ("a", "b")]
    tagged = "\n".join(f"<tool_call>{json.dumps(item)}</tool_call>" for item in listed)
    shop.provider.script(Reply(json.dumps(listed)), Reply(tagged), DONE)
    await shop.run(made)
    assert made.ran == [{"place": "a"}, {"place": "b"}] * 2


@pytest.mark.parametrize(
    "written",
    [
        'Sure! {"name": "map__find", "arguments": {"place": "Oslo"}}',
        '{"name": "map__find", "arguments": {"place": "Oslo"}} There you go.',
        '{"name": "weather__today", "arguments": {}}',
        '{"name": "map__find", "age": 3}',
        '<tool_call>{"name": "map__find", "arguments": {}}</tool_call> and more',
        '[{"name": "map__find", "arguments": {}}, "hello"]',
        '```python\nprint("map__find")\n```',
        '{"place": "Oslo"}',
        "map__find",
        "<b>hello</b>",
        "[" * 200_000,
    ],
)
async def test_any_other_text_is_text(shop: Workshop, written: str) -> None:
    made = tool("map__find", schema=PLACE)
    shop.provider.script(Reply(written))
    outcome = await shop.run(made)
    assert (outcome.stopped, made.ran) == ("answered", [])


async def test_the_legacy_function_call_counts_too(shop: Workshop) -> None:
    made = tool("map__find", schema=PLACE)
    legacy = {"name": "map__find", "arguments": '{"place": "Oslo"}'}
    message = {"role": "assistant", "content": None, "function_call": legacy}
    shop.provider.script(
        Status(200, {"choices": [{"message": message, "finish_reason": "function_call"}]}), DONE
    )
    await shop.run(made)
    assert made.ran == [{"place": "Oslo"}]
    assert "function_call" not in shop.sent()[-2]
    assert paired(shop)


async def test_halves_of_surrogate_pairs_reach_neither_tool_nor_history(shop: Workshop) -> None:
    made = tool("map__find", schema=PLACE)
    asked = call("map__find", '{"place": "\\ud83d Oslo"}')
    body = {"choices": [{"message": {"content": "a \ud83d b", "tool_calls": [asked]}}]}
    raw = Status(200, json.dumps(body), headers={"Content-Type": "application/json"})
    shop.provider.script(raw, DONE)
    outcome = await shop.run(made)
    assert outcome.stopped == "answered"
    assert made.ran == [{"place": "? Oslo"}]
