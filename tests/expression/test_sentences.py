from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.expression.sentences import SentenceSplitter
from tests.expression.streams import CUTS, pieces_of, read


def sentences(*pieces: str) -> list[str]:
    return read(SentenceSplitter(), pieces)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("", []),
        ("Hello", ["Hello"]),
        ("Hello there. How are you?", ["Hello there.", "How are you?"]),
        ("Really?! Yes!! Well... maybe.", ["Really?!", "Yes!!", "Well...", "maybe."]),
        ("你好。今天怎么样？很好！", ["你好。", "今天怎么样？", "很好！"]),
        ("先吃饭；再写代码……然后睡觉", ["先吃饭；", "再写代码……", "然后睡觉"]),
        ("你好!我是小玉.真的?对", ["你好!", "我是小玉.", "真的?", "对"]),
        ("她说：“好的。”然后走了。", ["她说：“好的。”", "然后走了。"]),
        ('He said "Stop!" Then (quietly.) he left.', ['He said "Stop!"', "Then (quietly.)", "he left."]),
        ("One line\nanother line\n\nthird", ["One line", "another line", "third"]),
        ("So do I. Then go.", ["So do I.", "Then go."]),
    ],
)
def test_a_reply_is_cut_into_its_sentences(reply: str, expected: list[str]) -> None:
    assert sentences(reply) == expected
    assert sentences(*reply) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Pi is 3.14 or so.",
        "Use v1.2.3 of main.py, e.g. this one.",
        "See https://example.com/a.html?b=c!d for more.",
        "Dr. Smith and J. R. Doe met Mrs. Jones.",
        "Apples, pears etc. are fruit.",
        "The U.S. has fifty states.",
        "It is No. 5 on the list.",
        "Node.js和Vue.js都可以。",
        "Call `a.b. c()` or `x? y! z` now.",
        "``tick ` dot. `` is one span.",
        "Open ~/.config/app.toml or .env first.",
        "At 9 a.m. we start.",
    ],
)
def test_a_dot_that_ends_nothing_does_not_cut(sentence: str) -> None:
    aloud = sentence.replace("``tick ` dot. ``", "tick ` dot.").replace(
        "`", "" if "tick" not in sentence else "`"
    )
    assert sentences(sentence) == [aloud]
    assert sentences(*sentence) == [aloud]


def test_an_abbreviation_may_still_be_the_last_word() -> None:
    assert sentences("Apples, pears etc. They are fruit.") == ["Apples, pears etc.", "They are fruit."]
    assert sentences("No. I won't.") == ["No.", "I won't."]
    assert sentences("It is 10 a.m.") == ["It is 10 a.m."]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("**Bold.** And *more* of ~~this~~ __that__.", ["Bold.", "And more of this that."]),
        (
            "# Title\n- one\n* two\n+ [x] done\n1. first. Then",
            ["Title", "one", "two", "done", "1. first.", "Then"],
        ),
        ("> A quote.\n> > Another", ["A quote.", "Another"]),
        ("See [the docs](https://a.b/c) and ![a cat](cat.png).", ["See the docs and a cat."]),
        ("snake_case_name stays, 2 * 3 too.", ["snake_case_name stays, 2 * 3 too."]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["a b", "1 2"]),
        ("---\n\n***\n…\n?!", []),
        ("a <br>b</b> \\*c\\* <https://x.y>", ["a b *c* https://x.y"]),
        ("`` ` ``", []),
    ],
)
def test_markdown_signs_are_not_spoken(reply: str, expected: list[str]) -> None:
    assert sentences(reply) == expected
    assert sentences(*reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Look:\n```python\nprint('Hi. There.')\n```\nDone.", ["Look:", "Done."]),
        ("~~~\na. b\n```\n~~~\nDone.", ["Done."]),
        ("````\n```\na. b\n````\nDone.", ["Done."]),
        ("- Do:\n  ```\n  a. b\n  ```\n- Done.", ["Do:", "Done."]),
        ("```\nnever closed. So", []),
        ("``` inline. code ``` here.", ["inline. code here."]),
        ("Hi.\n```js", ["Hi."]),
    ],
)
def test_code_blocks_are_not_spoken(reply: str, expected: list[str]) -> None:
    assert sentences(reply) == expected
    assert sentences(*reply) == expected


def test_a_sentence_is_given_as_soon_as_it_is_over() -> None:
    splitter = SentenceSplitter()
    assert splitter.feed("Hello.") == []
    assert splitter.feed(" ") == ["Hello."]
    assert splitter.feed("你好。") == []
    assert splitter.feed("我") == ["你好。"]
    assert splitter.feed("在\n") == ["我在"]
    assert splitter.feed("`") == []
    assert splitter.close() == []


def test_a_text_without_an_end_is_cut_where_one_breathes() -> None:
    words = "word " * 50 + "and, " + "more " * 100
    cut = sentences(words)
    assert cut[0].endswith("and,")
    assert all(len(sentence) <= 300 for sentence in cut)
    assert " ".join(cut) == words.strip()
    assert "".join(sentences("啊" * 700)) == "啊" * 700
    assert [len(sentence) for sentence in sentences("很长，" * 150)] == [300, 150]


REPLIES = st.lists(
    st.sampled_from(
        [
            *'.!?,` \n。！？；…，ab你*_~-#>"”)1',
            "```",
            "\n```\n",
            "~~~",
            "e.g.",
            " etc. ",
            "1. ",
            "word " * 30,
            "No.",
            "No. 5",
        ]
    ),
    max_size=40,
).map("".join)


@given(REPLIES, CUTS)
def test_every_way_to_cut_a_reply_gives_the_same_sentences(reply: str, cuts: list[int]) -> None:
    whole = sentences(reply)
    assert sentences(*pieces_of(reply, cuts)) == whole
    assert sentences(*reply) == whole


@given(REPLIES)
def test_nothing_is_said_that_was_not_written(reply: str) -> None:
    left = iter(reply)
    assert all(sound in left for sentence in sentences(reply) for sound in sentence if sound != " ")


@given(st.text("ab 你", max_size=400))
def test_words_are_never_lost(reply: str) -> None:
    assert "".join(sentences(reply)).replace(" ", "") == reply.replace(" ", "")


@pytest.mark.parametrize(
    "unit", ["`", ".", "。", " ", "\n", "```", "\n```\n", "~", "a", "etc. ", "\n- ", "` a", '."']
)
def test_a_hostile_reply_holds_little_back(unit: str) -> None:
    splitter = SentenceSplitter()
    for _ in range(2000):
        splitter.feed(unit)
    assert sum(map(len, splitter.close())) <= 600
