"""Tools made of functions."""

from __future__ import annotations

import asyncio
import threading
from typing import Annotated

import pytest
from pydantic import Field

from tests.support.calls import Context
from tools.contract import CallContext, TextPart, ToolFailure, ToolResult
from tools.inprocess import Arguments, tool

DEADLINE_S = 20.0


class Numbers(Arguments):
    """Documentation that no model needs to see."""

    count: Annotated[int, Field(ge=1, le=3, description="How many.")]
    title: str = "none"


@tool("demo__count", "Counts.", Numbers, timeout_s=2, max_result_chars=200)
def count(numbers: Numbers, context: CallContext) -> str:
    context.progress(1, 1, threading.current_thread().name)
    return " ".join(map(str, range(1, numbers.count + 1)))


async def test_a_blocking_function_runs_beside_the_event_loop() -> None:
    context = Context()
    result = await count.call({"count": 3}, context)
    assert result.parts == (TextPart("1 2 3"),)
    assert context.told == [(1, 1, "demo__count")]


def test_the_schema_holds_what_a_model_needs_and_no_more() -> None:
    assert count.info.input_schema == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "count": {"type": "integer", "minimum": 1, "maximum": 3, "description": "How many."},
            "title": {"type": "string", "default": "none"},
        },
        "required": ["count"],
    }
    assert (count.info.timeout_s, count.info.max_result_chars) == (2, 200)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "count: Field required"),
        ({"count": 4}, "count: Input should be less than or equal to 3"),
        ({"count": 1, "colour": "x"}, "colour: Extra inputs are not permitted"),
    ],
)
async def test_arguments_that_do_not_fit_are_explained_without_being_repeated(
    arguments: dict[str, object], said: str
) -> None:
    with pytest.raises(ToolFailure) as failure:
        await count.call(arguments, Context())
    assert str(failure.value) == f"Wrong arguments: {said}"


async def test_failures_and_results_pass_through() -> None:
    @tool("demo__fail", "Fails.", Arguments)
    def fail(arguments: Arguments, context: CallContext) -> str:
        raise ToolFailure("no", denied=True)

    @tool("demo__give", "Gives.", Arguments)
    async def give(arguments: Arguments, context: CallContext) -> ToolResult:
        return ToolResult.text("here", fetched="https://example.org")

    with pytest.raises(ToolFailure) as failure:
        await fail.call({}, Context())
    assert failure.value.denied
    assert (await give.call({}, Context())).findings.fetched == "https://example.org"


async def test_cancelling_does_not_wait_for_a_function_that_blocks() -> None:
    go, started = threading.Event(), threading.Event()

    @tool("demo__block", "Blocks.", Arguments)
    def block(arguments: Arguments, context: CallContext) -> str:
        started.set()
        go.wait(DEADLINE_S)
        return ""

    call = asyncio.create_task(block.call({}, Context()))
    async with asyncio.timeout(DEADLINE_S):
        await asyncio.to_thread(started.wait)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    go.set()
