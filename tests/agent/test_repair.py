"""The repair of a history before it is sent."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from server.agent.repair import CANCELLED, repair


def asked(*ids: str, **more: Any) -> dict[str, Any]:
    calls = [{"id": id, "type": "function", "function": {"name": "a", "arguments": "{}"}} for id in ids]
    return {"role": "assistant", "content": "", "tool_calls": calls, **more}


def result(id: str, content: str = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


USER = {"role": "user", "content": "hi"}


def test_a_whole_history_stays_as_it_is() -> None:
    whole = [
        USER,
        asked("1", "2", extra="kept"),
        result("1"),
        result("2"),
        {"role": "assistant", "content": "x"},
    ]
    repaired = repair(whole)
    assert repaired == whole
    assert all(new is old for new, old in zip(repaired, whole, strict=True))


def test_after_an_abort_calls_without_results_get_one() -> None:
    assert repair([USER, asked("1", "2"), result("2")]) == [
        USER,
        asked("1", "2"),
        result("1", CANCELLED),
        result("2"),
    ]


def test_results_without_calls_are_dropped() -> None:
    assert repair([result("9"), USER, asked("1"), result("1"), result("7"), USER, result("1")]) == [
        USER,
        asked("1"),
        result("1"),
        USER,
    ]


def test_results_stand_in_the_order_of_their_calls_and_once() -> None:
    messages = [asked("1", "2"), result("2", "b"), result("1", "a"), result("1", "again")]
    assert repair(messages) == [asked("1", "2"), result("1", "a"), result("2", "b")]


def test_empty_answers_and_unknown_roles_are_dropped() -> None:
    empty = {"role": "assistant", "content": ""}
    assert repair([USER, empty, {"role": "narrator", "content": "x"}, {"content": "?"}]) == [USER]


MESSAGES = st.lists(
    st.one_of(
        st.just(USER),
        st.lists(st.sampled_from("123"), min_size=1, max_size=3, unique=True).map(lambda ids: asked(*ids)),
        st.sampled_from("1234").map(result),
        st.sampled_from(["", "x"]).map(lambda text: {"role": "assistant", "content": text}),
    ),
    max_size=12,
)


@given(MESSAGES)
def test_whatever_happened_every_call_has_its_result_right_behind_it(messages: list[dict[str, Any]]) -> None:
    repaired = repair(messages)
    assert repair(repaired) == repaired
    at = 0
    while at < len(repaired):
        ids = [call["id"] for call in repaired[at].get("tool_calls", ())]
        results = repaired[at + 1 : at + 1 + len(ids)]
        assert [message.get("tool_call_id") for message in results] == ids
        at += 1 + len(ids)
        assert at >= len(repaired) or repaired[at]["role"] != "tool"
