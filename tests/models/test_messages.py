from typing import Any

import pytest

from server.models.failure import HttpRefusal
from server.models.messages import fold_system, refused_option, request_body
from server.models.profile import Option

CHAT = [
    {"role": "system", "content": "persona"},
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": "two"},
    {"role": "system", "content": "reminder"},
    {"role": "user", "content": "three"},
]


def body(without: tuple[Option, ...] = ()) -> dict[str, Any]:
    return request_body("m", CHAT, temperature=0.5, without=without)


def test_a_request_streams_and_asks_for_usage() -> None:
    assert body() == {
        "model": "m",
        "messages": CHAT,
        "stream": True,
        "temperature": 0.5,
        "stream_options": {"include_usage": True},
    }


def test_what_was_refused_is_left_out() -> None:
    assert set(body(("temperature", "stream_options"))) == {"model", "messages", "stream"}


def test_system_words_go_before_the_users_next_ones() -> None:
    assert body(("system",))["messages"] == [
        {"role": "user", "content": "persona\n\none"},
        {"role": "assistant", "content": "two"},
        {"role": "user", "content": "reminder\n\nthree"},
    ]


def test_only_later_system_messages_are_folded_where_the_first_is_taken() -> None:
    folded = body(("late_system",))["messages"]
    assert [message["role"] for message in folded] == ["system", "user", "assistant", "user"]
    assert folded[-1]["content"] == "reminder\n\nthree"


def test_roles_alternate_whatever_the_system_says_where() -> None:
    folded = fold_system(
        [
            {"role": "system", "content": "a"},
            {"role": "assistant", "content": "b"},
            {"role": "user", "content": [{"type": "text", "text": "c"}]},
            {"role": "system", "content": "d"},
        ],
        keep_first=False,
    )
    assert folded == [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": [{"type": "text", "text": "c"}, {"type": "text", "text": "d"}]},
    ]


@pytest.mark.parametrize(
    ("status", "told", "option"),
    [
        (400, "Unsupported parameter: 'stream_options'", "stream_options"),
        (422, "extra fields not permitted: include_usage", "stream_options"),
        (400, "Unsupported value: 'temperature' does not support 0.7 with this model.", "temperature"),
        (400, "Developer instruction is not enabled for models/gemma-3-1b-it", "system"),
        (500, "System role not supported", "system"),
        (400, "Conversation roles must alternate user/assistant/user/assistant/...", "system"),
        (400, "System message must be at the beginning.", "late_system"),
        (400, "Bad request", "stream_options"),
        (400, "This model's maximum context length is 4096 tokens", None),
        (400, "The model `x` does not exist", None),
        (500, "boom", None),
        (401, "stream_options", None),
    ],
)
def test_what_is_refused_is_found_in_the_providers_words(status: int, told: str, option: str | None) -> None:
    assert refused_option(HttpRefusal(status, {}, told), body(), ()) == option


def test_nothing_is_left_out_twice() -> None:
    refusal = HttpRefusal(400, {}, "stream_options and temperature")
    without: tuple[Option, ...] = ("stream_options", "temperature")
    assert refused_option(refusal, body(without), without) is None
