import json
from typing import Any

import pytest

from server.models.chunks import ChunkReader, ErrorInStream
from server.models.events import ReasoningDelta, TextDelta
from server.protocol import Usage


def delta(**fields: Any) -> bytes:
    return json.dumps({"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}).encode()


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
def test_thinking_comes_from_whichever_field_a_provider_uses(field: str) -> None:
    reader = ChunkReader()
    assert reader.read(delta(**{field: "hm", "content": None})) == [ReasoningDelta("hm")]
    assert reader.reasoning_field == field


def test_thinking_that_comes_twice_is_read_once() -> None:
    reader = ChunkReader()
    assert reader.read(delta(reasoning_content="hm", reasoning="hm")) == [ReasoningDelta("hm")]


def test_content_may_be_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "hi"},
        {"type": "reference"},
        "stray",
    ]
    assert ChunkReader().read(delta(content=parts)) == [ReasoningDelta("hm"), TextDelta("hi")]


@pytest.mark.parametrize(
    "payload",
    [
        b"{",
        b"17",
        b"[]",
        b"null",
        b'{"choices": "none"}',
        b'{"choices": [3]}',
        b'{"choices": [{"delta": 4}]}',
        b'{"choices": [{}]}',
        b'{"choices": [{"delta": {"content": 5}}]}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"usage": {"prompt_tokens": "many"}, "choices": []}',
    ],
)
def test_garbage_is_no_event_and_no_failure(payload: bytes) -> None:
    reader = ChunkReader()
    assert reader.read(payload) == []
    assert not reader.ended


def test_usage_comes_with_a_chunk_without_choices() -> None:
    reader = ChunkReader()
    assert reader.read(b'{"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}') == []
    assert reader.usage == Usage(prompt=3, completion=4)
    assert not reader.ended


def test_a_whole_completion_is_read_like_a_chunk() -> None:
    reader = ChunkReader()
    whole = b'{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}'
    assert reader.read(whole) == [TextDelta("hi")]
    assert reader.finish_reason == "stop"


@pytest.mark.parametrize("body", [{"error": {"message": "no"}}, {"error": "no"}, {"object": "error"}])
def test_an_error_in_the_stream_is_told(body: dict[str, Any]) -> None:
    with pytest.raises(ErrorInStream) as told:
        ChunkReader().read(json.dumps(body).encode())
    assert told.value.body == body


def test_a_null_error_is_none() -> None:
    assert ChunkReader().read(b'{"error": null, "choices": [{"delta": {"content": "hi"}}]}') == [
        TextDelta("hi")
    ]


def test_only_the_first_of_several_choices_is_read() -> None:
    second = {"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}
    first = {"index": 0, "delta": {"content": "yes"}, "finish_reason": None}
    reader = ChunkReader()
    assert reader.read(json.dumps({"choices": [second]}).encode()) == []
    assert reader.recognised
    assert not reader.ended
    assert reader.read(json.dumps({"choices": [second, first]}).encode()) == [TextDelta("yes")]
    assert reader.read(b'{"choices": [{"delta": {"content": "!"}}]}') == [TextDelta("!")]
