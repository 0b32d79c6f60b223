from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.expression.reasoning import ReasoningSplitter, Reply, Split, Thinking
from tests.expression.streams import CUTS, pieces_of, read


def split(*pieces: str) -> list[Split]:
    """The answer's parts, with neighbours of one kind joined."""
    joined: list[Split] = []
    for part in read(ReasoningSplitter(), pieces):
        if joined and type(joined[-1]) is type(part):
            joined[-1] = type(part)(joined[-1].text + part.text)
        else:
            joined.append(part)
    return joined


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("", []),
        ("Hello", [Reply("Hello")]),
        ("<think>Hm.</think>Hello", [Thinking("Hm."), Reply("Hello")]),
        ("<think>\n嗯，\n</think>\n\n你好", [Thinking("嗯，\n"), Reply("你好")]),
        ("<thinking>a</thinking>b", [Thinking("a"), Reply("b")]),
        ("<THOUGHT>a</Thought>b", [Thinking("a"), Reply("b")]),
        ("<reasoning>a</reasoning>b", [Thinking("a"), Reply("b")]),
        ("One.<think>a</think> Two.", [Reply("One."), Thinking("a"), Reply(" Two.")]),
        ("<think>a</think><think>b</think>c", [Thinking("ab"), Reply("c")]),
        (
            "<think>a < b, `</b>` </thinkers> <think></think>c",
            [Thinking("a < b, `</b>` </thinkers> <think>"), Reply("c")],
        ),
    ],
)
def test_thinking_is_told_from_the_reply(answer: str, expected: list[Split]) -> None:
    assert split(answer) == expected
    assert split(*answer) == expected


def test_thinking_text_is_never_spoken_wherever_its_tags_are_cut() -> None:
    answer = "<think>secret</think>\n\nHello"
    for cut in range(len(answer)):
        assert split(answer[:cut], answer[cut:]) == [Thinking("secret"), Reply("Hello")]


@pytest.mark.parametrize(
    "answer", ["</think>Hello", "\n</think>\n\nHello", "</thinking></reasoning> Hello", "Hel</think>lo"]
)
def test_a_closing_tag_without_an_opening_one_never_shows(answer: str) -> None:
    assert split(answer) == [Reply("Hello")]
    assert split(*answer) == [Reply("Hello")]


def test_thinking_that_is_not_closed_is_thinking_to_the_end() -> None:
    assert split("<think>and so on </thi") == [Thinking("and so on </thi")]
    assert split("<think>") == []


@pytest.mark.parametrize(
    "reply",
    [
        "Use `<think>` for that and `</think>` to end it.",
        "```xml\n<think>\n</think>\n```\n",
        "``a ` <think>``",
        "~~~\n<think>",
        "<thinker> <think less> < think> <b>",
        "a < b and c <",
        "ends with <thin",
        "  leading white space stays",
        " \n",
    ],
)
def test_a_reply_that_explains_the_tags_keeps_them(reply: str) -> None:
    assert split(reply) == [Reply(reply)]
    assert split(*reply) == [Reply(reply)]


def test_empty_thinking_leaves_no_trace() -> None:
    assert split("<think>\n\n</think>\n\nHello") == [Reply("Hello")]
    assert split("\n<think>\n\n</think>\n\n") == []


def test_code_in_the_thinking_says_nothing_about_the_reply() -> None:
    assert split("<think>```py\n`x</think>\n<think>b</think>c") == [Thinking("```py\n`xb"), Reply("c")]


def test_a_fence_right_after_the_thinking_is_a_fence() -> None:
    answer = "<think>a</think>```\n<think>\n```\nb"
    assert split(*answer) == [Thinking("a"), Reply("```\n<think>\n```\nb")]


def test_the_reply_passes_as_soon_as_it_is_certain() -> None:
    splitter = ReasoningSplitter()
    assert splitter.feed("a <t") == [Reply("a ")]
    assert splitter.feed("able>") == [Reply("<table>")]
    assert splitter.feed("<think>b") == [Thinking("b")]
    assert splitter.feed(" </") == [Thinking(" ")]
    assert splitter.feed("p> `") == [Thinking("</p> `")]
    assert splitter.feed("</think> c") == [Reply(" c")]


ANSWERS = st.lists(
    st.sampled_from(
        [
            *"<>/`~ \n\\ax",
            "<think>",
            "</think>",
            "<THINKING>",
            "</reasoning>",
            "<thi",
            "nk>",
            "```",
            "\n```\n",
            "你好",
        ]
    ),
    max_size=30,
).map("".join)


@given(ANSWERS, CUTS)
def test_every_way_to_cut_an_answer_gives_the_same(answer: str, cuts: list[int]) -> None:
    whole = split(answer)
    assert split(*pieces_of(answer, cuts)) == whole
    assert split(*answer) == whole


@given(ANSWERS)
def test_the_parts_are_the_answer_without_its_tags(answer: str) -> None:
    left = iter(answer)
    assert all(character in left for part in split(answer) for character in part.text)
