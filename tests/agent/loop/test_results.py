"""Results on their way to the model: one conversion, one cap, one budget."""

from __future__ import annotations

import base64
import io
import json
import math
import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from PIL import Image

from server.agent.loop import run_tools
from server.agent.trace import LoopOutcome
from server.config.schema import ToolOverride
from server.models.tokens import count_tokens
from tests.agent.loop.workshop import DONE, Workshop, call, calls, takes, tool
from tests.fakes.openai_server import Reply, Status
from tools.contract import CallContext, DataPart, Part, PicturePart, TextPart, ToolResult


class Huge(int):
    """A number too long to be printed, which pytest would do with a plain one."""

    def __str__(self) -> str:
        return "huge"


HUGE = Huge(10**30_000)


def png(size: int = 8) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (size, size), "red").save(buffer, "PNG")
    return buffer.getvalue()


async def given(shop: Workshop, *parts: Part, **more: Any) -> LoopOutcome:
    """The loop over one call that gives ``parts``."""

    async def work(arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        return ToolResult(parts)

    shop.provider.script(calls(call("a__work", {})), DONE)
    return await shop.run(tool("a__work", work), **more)


async def test_a_result_of_60_mb_is_cut_without_being_copied(shop: Workshop) -> None:
    huge = "x" * 59_999_990 + "the end"
    parts = (TextPart(huge), DataPart({"text": huge, "list": [huge] * 3}))
    tracemalloc.start()
    try:
        outcome = await given(shop, *parts)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 20_000_000
    assert len(outcome.trace[0].raw_result) <= 12_000
    assert "characters left out" in outcome.trace[0].raw_result


async def test_a_long_text_keeps_its_beginning_and_its_end(shop: Workshop) -> None:
    outcome = await given(shop, TextPart("FIRST" + "x" * 50_000 + "LAST"))
    text = outcome.trace[0].raw_result
    assert text.startswith("FIRST")
    assert text.endswith("LAST")


async def test_the_cap_can_be_set_for_one_tool(shop: Workshop) -> None:
    bounds = {"a__work": ToolOverride(max_result_chars=200)}
    outcome = await given(shop, TextPart("x" * 5000), TextPart("y" * 5000), bounds=bounds)
    assert len(outcome.trace[0].raw_result) <= 200


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, 2.5, True, None, "ü"]}, '{"a":[1,2.5,true,null,"ü"]}'),
        ({"a": math.nan, "b": math.inf}, '{"a":"nan","b":"inf"}'),
        ([b"\x00\x01", {1: 2}], '["(2 bytes)",{"1":2}]'),
        ({"a": "\ud83d half"}, '{"a":"? half"}'),
        (HUGE, '"(a huge number)"'),
        (object, "\"<class 'object'>\""),
        ([], "[]"),
    ],
)
async def test_data_is_compact_json_whatever_is_in_it(shop: Workshop, value: Any, text: str) -> None:
    outcome = await given(shop, DataPart(value))
    assert outcome.trace[0].raw_result == text
    assert json.loads(outcome.trace[0].raw_result) is not None


async def test_data_that_holds_itself_comes_to_an_end(shop: Workshop) -> None:
    value: list[Any] = []
    value.append(value)
    outcome = await given(shop, DataPart(value))
    assert "nested too deeply" in outcome.trace[0].raw_result


async def test_nothing_is_said_to_be_nothing(shop: Workshop) -> None:
    await given(shop)
    assert "nothing" in shop.results()[0]


async def test_invalid_unicode_never_reaches_the_provider(shop: Workshop) -> None:
    outcome = await given(shop, TextPart("a \udcff b \ud83d c"))
    assert outcome.stopped == "answered"
    assert shop.results() == ["a ? b ? c"]


async def test_keys_in_results_are_masked_on_the_edge_of_the_cut_too(shop: Workshop) -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz1234567890"
    for offset in range(8_900, 9_010, 10):
        text = "x " * (offset // 2) + key + " y" * 20_000
        shop.provider.requests.clear()
        await given(shop, TextPart(text))
        assert "abcdef" not in shop.results()[0]
        assert "sk-proj" not in shop.results()[0]


async def test_a_picture_is_named_in_the_text_and_kept_in_the_store(shop: Workshop) -> None:
    outcome = await given(shop, TextPart("the screen"), PicturePart(png(), "image/png", "monitor 1"))
    assert outcome.pictures == ["img_1"]
    assert shop.learned == [("a__work", ("img_1",))]
    assert shop.ended[0].pictures == ("img_1",)
    assert shop.results()[0].startswith("the screen\npicture img_1: monitor 1")
    stored = shop.turn.images.get("img_1")
    assert stored is not None
    assert (stored.width, stored.height) == (8, 8)
    assert [message["role"] for message in shop.sent()] == ["system", "system", "user", "assistant", "tool"]


async def test_a_tool_model_that_sees_gets_pictures_behind_all_tool_messages(shop: Workshop) -> None:
    async def shoot(arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        return ToolResult((PicturePart(png(), "image/png", "monitor 1"),))

    shop.provider.script(calls(call("a__shoot", {}), call("a__other", {})), DONE)
    await shop.run(tool("a__shoot", shoot), tool("a__other"), capabilities={"vision": True})
    roles = [message["role"] for message in shop.sent()]
    assert roles == ["system", "system", "user", "assistant", "tool", "tool", "user"]
    _, picture = shop.sent()[-1]["content"]
    assert picture["image_url"]["url"].startswith("data:image/jpeg;base64,")
    assert all(isinstance(message["content"], str) for message in shop.sent() if message["role"] == "tool")


def inside(data: str) -> list[Any]:
    return [
        {"content": [{"type": "image", "data": data, "mimeType": "image/png"}]},
        {"screenshot": f"data:image/png;base64,{data}"},
    ]


@pytest.mark.parametrize("form", [0, 1])
async def test_an_image_never_travels_as_base64_inside_a_structured_result(shop: Workshop, form: int) -> None:
    data = base64.b64encode(png(200) + b"\0" * 2000).decode()
    outcome = await given(shop, DataPart(inside(data)[form]))
    assert data[:100] not in outcome.trace[0].raw_result
    assert outcome.pictures == ["img_1"]


async def test_base64_in_a_text_is_left_out(shop: Workshop) -> None:
    data = base64.b64encode(png(200) * 9).decode()
    outcome = await given(shop, TextPart(f"see data:image/png;base64,{data} there"))
    assert outcome.trace[0].raw_result == "see (base64 left out) there"


async def test_an_image_that_is_none_is_an_error(shop: Workshop) -> None:
    outcome = await given(shop, PicturePart(b"not a picture", "image/png"))
    assert outcome.trace[0].outcome == "error"
    assert "picture can't be used" in shop.results()[0]
    assert outcome.pictures == []


async def test_a_bad_image_beside_text_leaves_the_text(shop: Workshop) -> None:
    outcome = await given(shop, TextPart("the text"), PicturePart(b"not a picture", "image/png"))
    assert outcome.trace[0].outcome == "ok"
    assert shop.results()[0].startswith("the text\na picture can't be used")


async def test_of_many_pictures_only_some_are_kept(shop: Workshop) -> None:
    outcome = await given(shop, *(PicturePart(png(), "image/png") for _ in range(12)))
    assert len(outcome.pictures) == 8
    assert "4 more pictures left out" in shop.results()[0]


# --- the budget -----------------------------------------------------------------------------


def sizes(texts: Sequence[str]) -> list[int]:
    return [count_tokens(text) for text in texts]


async def test_the_context_never_overflows_inside_the_loop(shop: Workshop) -> None:
    texts = {"a": "alpha " * 3000, "b": "beta " * 500, "c": "gamma " * 1500}

    async def work(arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        return ToolResult.text(texts[arguments["name"]])

    shop.provider.script(*(calls(call("a__work", {"name": name})) for name in "abc"), DONE)
    outcome = await shop.run(
        tool("a__work", work, takes(name="string"), max_result_chars=100_000), chat_context=8192
    )
    assert outcome.stopped == "answered"
    first, second, third = sizes(shop.results(3))
    assert first + second + third <= 4096
    assert first < sizes([texts["a"]])[0]
    assert (second, third) == tuple(sizes([texts["b"], texts["c"]]))
    assert sum(1 for message in shop.sent(3) if message.get("tool_calls")) == 3
    assert outcome.trace[0].raw_result == texts["a"]


async def test_where_trimming_would_leave_nothing_the_budget_is_spent(shop: Workshop) -> None:
    shop.provider.script(*(calls(call("a__work", {"n": n})) for n in range(9)))
    outcome = await shop.run(
        tool("a__work", "word " * 2400, takes(n="integer")), chat_context=1024, settings={"max_steps": 50}
    )
    assert outcome.stopped == "budget"
    assert len(outcome.trace) == len(shop.provider.requests)


async def test_a_small_tool_model_gets_no_more_than_it_can_read(shop: Workshop) -> None:
    job = await shop.job(tool("a__work", "word " * 2400))
    shop.provider.script(calls(call("a__work", {})), DONE)
    small = replace(job, model=replace(job.model, context_tokens=3000), chat_context=100_000)
    outcome = await run_tools(small, shop.events.append)
    assert outcome.stopped == "answered"
    assert sizes(shop.results())[0] < 2500


async def test_a_provider_that_says_overflow_is_asked_again_with_less(shop: Workshop) -> None:
    overflow = Status(400, {"error": {"message": "maximum context length is 2000 tokens"}})
    shop.provider.script(calls(call("a__work", {})), overflow, DONE)
    outcome = await shop.run(tool("a__work", "word " * 2400), chat_context=8192)
    assert outcome.stopped == "answered"
    assert sizes(shop.results(2))[0] < sizes(shop.results(1))[0]


async def test_a_provider_that_always_says_overflow_spends_the_budget(shop: Workshop) -> None:
    overflow = Status(400, {"error": {"message": "maximum context length is 2000 tokens"}})
    shop.provider.script(calls(call("a__work", {})), overflow, overflow, overflow, overflow)
    outcome = await shop.run(tool("a__work", "word " * 2400))
    assert outcome.stopped == "budget"
    assert len(outcome.trace) == 1


async def test_a_prompt_that_was_cut_silently_is_told(shop: Workshop) -> None:
    shop.provider.script(calls(call("a__work", {}), usage=(500, 1)), Reply("done", usage=(600, 1)))
    outcome = await shop.run(tool("a__work", "word " * 2400), chat_context=100_000)
    assert outcome.cut_prompt is not None
    read, sent = outcome.cut_prompt
    assert read == 600 < sent
