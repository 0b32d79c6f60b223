"""The loop with a model that doesn't call tools natively: it fills in a form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from server.agent.schema_form import Form
from tests.agent.loop.workshop import Workshop, call, calls, takes, tool
from tests.fakes.openai_server import Reply, Status
from tools.contract import CallContext, ToolFailure, ToolInfo, ToolResult

NO_TOOLS = {"tools": False}


def chosen(name: str, arguments: Mapping[str, Any] | None = None) -> Reply:
    choice = {"tool": name} if name == "none" else {"tool": name, "arguments": dict(arguments or {})}
    return Reply(json.dumps(choice))


NONE = chosen("none")


async def test_a_refusal_of_tools_changes_the_form_and_is_told_once(shop: Workshop) -> None:
    refusal = Status(400, {"error": {"message": "gemma does not support tools"}})
    shop.provider.script(refusal, chosen("clock__now"), NONE)
    outcome = await shop.run(tool("clock__now", "noon"), capabilities={"tools": None})
    assert (outcome.stopped, outcome.tools_refused) == ("answered", True)
    assert [entry.raw_result for entry in outcome.trace] == ["noon"]
    bodies = [request.body for request in shop.provider.requests]
    assert ["tools" in body for body in bodies] == [True, False, False]
    assert ["response_format" in body for body in bodies] == [False, True, True]
    model = await shop.hub.resolve("tool")
    assert (model.capabilities.tools, model.capabilities.json_schema) == (False, True)

    shop.provider.script(NONE)
    again = await shop.run(tool("clock__now"), capabilities=NO_TOOLS)
    assert again.tools_refused is False
    assert "tools" not in shop.provider.requests[-1].body


async def test_tools_ignored_in_silence_change_the_form(shop: Workshop) -> None:
    prose = Reply("I think it is noon."), Reply("I am ready!")
    shop.provider.script(*prose, chosen("clock__now"), NONE)
    outcome = await shop.run(tool("clock__now", "noon"), capabilities={"tools": None})
    assert [entry.raw_result for entry in outcome.trace] == ["noon"]
    assert shop.provider.requests[1].body["tool_choice"] == "required"
    assert (await shop.hub.resolve("tool")).capabilities.tools is False


async def test_a_model_that_calls_when_it_must_keeps_its_native_form(shop: Workshop) -> None:
    shop.provider.script(Reply("done"), calls(call("report_ready", {})))
    outcome = await shop.run(tool("clock__now"), capabilities={"tools": None})
    assert (outcome.stopped, outcome.tools_refused, len(shop.provider.requests)) == ("answered", False, 2)
    assert (await shop.hub.resolve("tool")).capabilities.tools is True


async def test_a_probe_that_fails_leaves_the_answer_as_it_is(shop: Workshop) -> None:
    shop.provider.script(Reply("done"), Status(500))
    outcome = await shop.run(tool("clock__now"), capabilities={"tools": None})
    assert outcome.stopped == "answered"


async def test_steps_are_chained_by_results_that_the_model_can_read(shop: Workshop) -> None:
    shop.provider.script(chosen("a__find", {"q": "x"}), chosen("a__read", {"n": 1}), NONE)
    outcome = await shop.run(
        tool("a__find", "found it", takes(q="string")),
        tool("a__read", "read it", takes(n="integer")),
        capabilities=NO_TOOLS,
        words="Find x and read it.",
    )
    assert [entry.raw_result for entry in outcome.trace] == ["found it", "read it"]
    last = shop.sent()
    assert {message["role"] for message in last} <= {"system", "user", "assistant"}
    assert [message["role"] for message in last[-5:]] == ["user", "assistant", "user", "assistant", "user"]
    assert last[-5]["content"] == "Find x and read it."
    assert "found it" in last[-3]["content"]
    assert "read it" in last[-1]["content"]


async def test_the_same_choice_again_means_none(shop: Workshop) -> None:
    shop.provider.script(*(chosen("clock__now") for _ in range(9)))
    outcome = await shop.run(tool("clock__now", "noon"), capabilities=NO_TOOLS)
    assert (outcome.stopped, len(outcome.trace)) == ("answered", 1)


async def test_a_failing_choice_made_again_and_again_comes_to_an_end(shop: Workshop) -> None:
    async def fails(arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        raise ToolFailure("no luck")

    shop.provider.script(*(chosen("clock__now") for _ in range(9)))
    outcome = await shop.run(tool("clock__now", fails), capabilities=NO_TOOLS)
    assert (outcome.stopped, len(outcome.trace)) == ("repeated", 5)


@pytest.mark.parametrize(
    "text",
    [
        "I don't need a tool.",
        "",
        '{"tool": "none"}',
        '{"tool": "NONE"}',
        '{"tool": ""}',
        '{"tool": 7}',
        "[]",
        "null",
    ],
)
async def test_anything_that_is_no_choice_ends_the_loop(shop: Workshop, text: str) -> None:
    shop.provider.script(Reply(text))
    outcome = await shop.run(tool("clock__now"), capabilities=NO_TOOLS)
    assert (outcome.stopped, outcome.trace) == ("answered", [])


async def test_a_refused_schema_still_leaves_the_prompt(shop: Workshop) -> None:
    shop.provider.refuses = {"response_format"}
    fenced = Reply('```json\n{"tool": "clock__now", "arguments": {}}\n```')
    shop.provider.script(fenced, NONE)
    outcome = await shop.run(tool("clock__now", "noon"), capabilities=NO_TOOLS)
    assert [entry.raw_result for entry in outcome.trace] == ["noon"]
    assert (await shop.hub.resolve("tool")).capabilities.json_schema is False


async def test_an_invented_tool_is_answered_with_those_that_exist(shop: Workshop) -> None:
    shop.provider.script(chosen("weather__today"), NONE)
    outcome = await shop.run(tool("clock__now"), capabilities=NO_TOOLS)
    assert [entry.outcome for entry in outcome.trace] == ["error"]
    assert "clock__now" in shop.sent()[-1]["content"]


def form() -> Form:
    place = {
        "type": "object",
        "properties": {"at": {"$ref": "#/$defs/P"}},
        "$defs": {"P": {"type": "string"}},
    }
    return Form(
        [
            ToolInfo("tool__web_search", "Searches the web.\nMore words.", takes(query="string")),
            ToolInfo("map__find", "Finds a place.", place),
        ]
    )


def test_the_form_is_the_union_of_the_calls_and_none() -> None:
    schema = form().response_format["json_schema"]["schema"]
    names = [choice["properties"]["tool"]["const"] for choice in schema["anyOf"]]
    assert names == ["web_search", "find", "none"]
    assert "$ref" not in json.dumps(schema)
    assert all(choice["additionalProperties"] is False for choice in schema["anyOf"])


def test_examples_are_shown_only_for_tools_that_are_there() -> None:
    messages = [
        {"role": "system", "content": "router"},
        {"role": "system", "content": "state"},
        {"role": "user", "content": "Search the web for dogs"},
    ]
    prompt = form().prompt(messages)
    shown = [json.loads(message["content"])["tool"] for message in prompt if message["role"] == "assistant"]
    assert {"web_search", "none"} == set(shown)
    assert shown[-1] == "web_search"
    assert prompt[-1] == messages[-1]
    assert "More words" not in str(prompt)


def test_names_stay_whole_where_short_ones_would_mean_two_tools() -> None:
    names = ["a__find", "b__find", "c__none"]
    two = Form([ToolInfo(name, "", takes()) for name in names])
    assert [two.short(name) for name in names] == names


async def test_short_names_are_understood(shop: Workshop) -> None:
    shop.provider.script(chosen("now"), NONE)
    outcome = await shop.run(tool("clock__now", "noon"), capabilities=NO_TOOLS)
    assert [entry.full_name for entry in outcome.trace] == ["clock__now"]
    assert json.loads(shop.sent()[-2]["content"])["tool"] == "now"
