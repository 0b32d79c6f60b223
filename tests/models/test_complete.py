"""Whole answers, and everything that a provider may refuse in the request for one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from server.errors import PetError
from server.models.chat import Patience
from server.models.tool_schema import tool_definition
from tests.fakes.openai_server import Hang, Reply, ScriptedProvider, Status
from tests.models.conftest import MakeHub, chat_with

HI = [{"role": "user", "content": "Hi"}]
CLOCK = tool_definition("clock__now", "The time.", {"type": "object", "properties": {}})
PLACE = tool_definition(
    "map__find",
    "Finds a place.",
    {
        "type": "object",
        "properties": {"place": {"$ref": "#/$defs/Place"}},
        "$defs": {"Place": {"type": "object", "properties": {"name": {"type": "string"}}}},
        "additionalProperties": False,
    },
)
CALL = {"id": "a1", "type": "function", "function": {"name": "clock__now", "arguments": "{}"}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}


def refuse(message: str, status: int = 400) -> Status:
    return Status(status, {"error": {"message": message}})


async def test_an_answer_is_read_whole_with_what_is_unknown(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    signed = {**CALL, "extra_content": {"google": {"thought_signature": "abc"}}}
    provider.script(Reply("Let me look.", tool_calls=[signed], finish="tool_calls", usage=(7, 3)))
    hub = await make_hub(chat_with(provider.base_url))
    model = await hub.resolve("chat")
    answer = await hub.complete(model, HI, tools=[CLOCK])
    assert (answer.text, answer.calls, answer.finish_reason) == ("Let me look.", [signed], "tool_calls")
    assert answer.message["tool_calls"] == [signed]
    assert (answer.usage.prompt, answer.usage.completion) == (7, 3)
    assert answer.with_tools
    body = provider.requests[0].body
    assert body["temperature"] == 0
    assert not {"stream", "parallel_tool_calls", "tool_choice", "response_format"} & set(body)
    assert (await hub.resolve("chat")).capabilities.tools is True


async def test_usage_is_estimated_where_the_provider_does_not_count(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    provider.script(Reply("One two three four.", usage=False))
    hub = await make_hub(chat_with(provider.base_url))
    answer = await hub.complete(await hub.resolve("chat"), HI)
    assert answer.usage.prompt > 0
    assert answer.usage.completion > 0


@pytest.mark.parametrize(
    "refusal",
    [
        refuse("registry.ollama.ai/library/gemma:2b does not support tools"),
        refuse("No endpoints found that support tool use.", 404),
        refuse("Unrecognized request argument supplied: tools", 422),
        refuse("tools param requires --jinja flag", 500),
        refuse('"auto" tool choice requires --enable-auto-tool-choice to be set'),
        refuse("Function calling is not enabled for this model"),
    ],
)
async def test_a_model_that_does_not_support_tools_is_asked_without_them_and_remembered(
    refusal: Status, provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    provider.script(refusal, Reply("Hello."), Reply("Again."))
    hub = await make_hub(chat_with(provider.base_url))
    model = await hub.resolve("chat")
    first = await hub.complete(model, HI, tools=[CLOCK])
    second = await hub.complete(model, HI, tools=[CLOCK])
    assert (first.text, first.tools_refused, first.with_tools) == ("Hello.", True, False)
    assert (second.text, second.tools_refused, second.with_tools) == ("Again.", False, False)
    assert ["tools" in request.body for request in provider.requests] == [True, False, False]
    assert (await hub.resolve("chat")).capabilities.tools is False


@pytest.mark.parametrize(
    "told",
    [
        "Unknown parameter: 'messages[2].tool_calls[0].extra_content'.",
        "An assistant message with 'tool_calls' must be followed by tool messages; unknown tool_call_id",
        "messages.1: role 'tool' is not supported here",
        "Failed to parse the tool call: unexpected end of input",
    ],
)
async def test_a_refusal_that_is_about_the_messages_forgets_no_tools(
    told: str, provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    provider.script(refuse(told))
    hub = await make_hub(chat_with(provider.base_url))
    with pytest.raises(PetError):
        await hub.complete(await hub.resolve("chat"), HI, tools=[CLOCK])
    assert (await hub.resolve("chat")).capabilities.tools is None


async def test_a_refused_temperature_or_response_format_is_dropped_and_remembered(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    provider.refuses = {"temperature", "response_format"}
    hub = await make_hub(chat_with(provider.base_url))
    model = await hub.resolve("chat")
    await hub.complete(model, HI, response_format=FORMAT)
    asked = len(provider.requests)
    await hub.complete(model, HI, response_format=FORMAT)
    assert (asked, len(provider.requests)) == (3, 4)
    assert (await hub.resolve("chat")).capabilities.json_schema is False


async def test_a_schema_that_a_provider_takes_is_remembered(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    hub = await make_hub(chat_with(provider.base_url))
    model = await hub.resolve("chat")
    await hub.complete(model, HI, response_format=FORMAT)
    assert (await hub.resolve("chat")).capabilities.json_schema is True


async def test_references_never_reach_a_provider_and_plain_words_are_sent_after_a_refusal(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    told = "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'tools[0].parameters'"
    provider.script(refuse(told), Reply("Fine."), Reply("Fine."))
    hub = await make_hub(chat_with(provider.base_url))
    model = await hub.resolve("chat")
    await hub.complete(model, HI, tools=[PLACE])
    await hub.complete(model, HI, tools=[PLACE])
    schemas = [request.body["tools"][0]["function"]["parameters"] for request in provider.requests]
    assert schemas[0]["properties"]["place"]["properties"] == {"name": {"type": "string"}}
    assert all("$ref" not in str(schema) and "$defs" not in schema for schema in schemas)
    assert ["additionalProperties" in schema for schema in schemas] == [True, False, False]


@pytest.mark.parametrize(
    "told",
    ["Invalid schema for function 'map__find': broken", "tools.1.input_schema: JSON schema invalid"],
)
async def test_one_schema_that_makes_the_provider_refuse_everything_is_dropped_alone(
    told: str, provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    provider.script(refuse(told), refuse(told), Reply("Fine."), Reply("Fine."))
    hub = await make_hub(chat_with(provider.base_url))
    model = await hub.resolve("chat")
    answer = await hub.complete(model, HI, tools=[CLOCK, PLACE])
    assert (answer.with_tools, answer.dropped) == (True, ("map__find",))
    await hub.complete(model, HI, tools=[CLOCK, PLACE])
    sent = [[tool["function"]["name"] for tool in request.body["tools"]] for request in provider.requests]
    assert sent == [["clock__now", "map__find"]] * 2 + [["clock__now"]] * 2


async def test_tools_ignored_in_silence_are_found_out_once(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    provider.script(Reply("I am ready!"))
    hub = await make_hub(chat_with(provider.base_url))
    model = await hub.resolve("chat")
    assert await hub.calls_tools(model) is False
    assert await hub.calls_tools(model) is False
    assert [request.body["tool_choice"] for request in provider.requests] == ["required"]
    assert (await hub.resolve("chat")).capabilities.tools is False


async def test_a_refused_tool_choice_is_left_out_of_the_probe(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    provider.refuses = {"tool_choice"}
    provider.script(Reply(tool_calls=[CALL]))
    hub = await make_hub(chat_with(provider.base_url))
    assert await hub.calls_tools(await hub.resolve("chat")) is True


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Status(401), "provider_auth"),
        (Status(429, retry_after=90), "provider_rate_limited"),
        (Status(404, {"error": {"message": "model 'x' not found"}}), "needs_model"),
        (refuse("This model's maximum context length is 10 tokens"), "context_overflow"),
        (refuse("something else is wrong"), "provider_error"),
        (Status(200, {"error": {"message": "overloaded"}}), "provider_error"),
        (Status(200, {"choices": []}), "provider_error"),
        (Status(200, "<html>hello</html>"), "provider_error"),
    ],
)
async def test_every_failure_is_one_of_the_known_errors(
    reply: Status, code: str, provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    provider.script(reply)
    hub = await make_hub(chat_with(provider.base_url))
    with pytest.raises(PetError) as caught:
        await hub.complete(await hub.resolve("chat"), HI, tools=[CLOCK])
    assert caught.value.code == code


async def test_a_passing_failure_is_tried_again(provider: ScriptedProvider, make_hub: MakeHub) -> None:
    provider.script(Status(503), Reply("Back."))
    hub = await make_hub(chat_with(provider.base_url))
    assert (await hub.complete(await hub.resolve("chat"), HI)).text == "Back."


async def test_a_provider_that_never_answers_is_unreachable(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    provider.script(Hang())
    hub = await make_hub(chat_with(provider.base_url), patience=Patience(retries=0, answer_s=0.05))
    with pytest.raises(PetError) as caught:
        await hub.complete(await hub.resolve("chat"), HI)
    assert caught.value.code == "provider_unreachable"


async def test_cancelling_aborts_the_request(provider: ScriptedProvider, make_hub: MakeHub) -> None:
    provider.script(Hang())
    hub = await make_hub(chat_with(provider.base_url))
    model = await hub.resolve("chat")
    asking: asyncio.Task[Any] = asyncio.create_task(hub.complete(model, HI))
    async with asyncio.timeout(10):
        await provider.request_received()
        asking.cancel()
        await provider.client_gone()
        with pytest.raises(asyncio.CancelledError):
            await asking


async def test_text_in_parts_is_put_together(provider: ScriptedProvider, make_hub: MakeHub) -> None:
    message = {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    provider.script(Status(200, {"choices": [{"message": message}]}))
    hub = await make_hub(chat_with(provider.base_url))
    answer = await hub.complete(await hub.resolve("chat"), HI)
    assert (answer.text, answer.finish_reason) == ("ab", "stop")


async def test_a_broken_json_answer_is_no_crash(provider: ScriptedProvider, make_hub: MakeHub) -> None:
    provider.script(Status(200, "{nope", headers={"Content-Type": "application/json"}))
    hub = await make_hub(chat_with(provider.base_url))
    with pytest.raises(PetError) as caught:
        await hub.complete(await hub.resolve("chat"), HI)
    assert caught.value.code == "provider_error"
