from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.expression.markers import Expressed, ExpressionCue, MarkerParser, MotionCue
from tests.expression.streams import CUTS, pieces_of, read

NOD = MotionCue("nod")
SMILE = ExpressionCue("smile")
MARKER = re.compile(r"\[\[(motion|expression):([a-z-]{1,32})\]\]")
ALLOWED = {"nod", "shake", "blink", "smile", "squint-eyes", "tears", "tear-drop"}


def express(*pieces: str) -> list[Expressed]:
    """What a reply becomes, with neighbouring texts joined."""
    joined: list[Expressed] = []
    for item in read(MarkerParser(), pieces):
        if isinstance(item, str) and joined and isinstance(joined[-1], str):
            joined[-1] += item
        else:
            joined.append(item)
    return joined


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("", []),
        ("plain", ["plain"]),
        ("[[motion:nod]]", [NOD]),
        ("Hi [[motion:nod]]there[[expression:smile]]!", ["Hi ", NOD, "there", SMILE, "!"]),
        ("[[expression:squint-eyes]][[motion:shake]]", [ExpressionCue("squint-eyes"), MotionCue("shake")]),
        ("你好[[expression:smile]]，在的", ["你好", SMILE, "，在的"]),
    ],
)
def test_a_marker_becomes_a_cue_in_its_place(reply: str, expected: list[Expressed]) -> None:
    assert express(reply) == expected


@pytest.mark.parametrize(
    "marker",
    [
        "[[motion:dance]]",
        "[[motion:smile]]",
        "[[expression:nod]]",
        "[[expression:-]]",
        "[[motion:" + "x" * 32 + "]]",
    ],
)
def test_a_name_that_is_not_allowed_vanishes_without_a_word(marker: str) -> None:
    assert express(f"a{marker}b") == ["ab"]


def test_talk_written_by_the_model_makes_no_second_talk() -> None:
    assert express("[[motion:talk]]Hello") == ["Hello"]


@pytest.mark.parametrize(
    "text",
    [
        "a[[0]]",
        "[INFO] a[i] = b[[1, 2]]",
        "[[motion:nod] ]",
        "[[motion:nod] and more",
        "[[motion nod]]",
        "[[motion:]]",
        "[[Motion:nod]]",
        "[[motion:Nod]]",
        "[[motion:nod2]]",
        "[[motion: nod]]",
        "[[motion:" + "x" * 33 + "]]",
        "[[gesture:nod]]",
        "[motion:nod]",
        "[[motion:nod",
    ],
)
def test_anything_else_is_text(text: str) -> None:
    assert express(text + ".") == [text + "."]


def test_brackets_around_a_marker_stay() -> None:
    assert express("[[[motion:nod]]]") == ["[", NOD, "]"]
    assert express("[[motion:[[motion:nod]]") == ["[[motion:", NOD]


@pytest.mark.parametrize(
    "end",
    ["[", "[[", "[[m", "[[expr", "[[motion", "[[motion:", "[[motion:no", "[[motion:nod]", "[[motion:dance"],
)
def test_the_beginning_of_a_marker_at_the_very_end_is_dropped(end: str) -> None:
    assert express(f"Bye {end}") == ["Bye "]
    assert express(*f"Bye {end}") == ["Bye "]


def test_text_passes_as_soon_as_it_is_certain() -> None:
    parser = MarkerParser()
    assert parser.feed("a[[") == ["a"]
    assert parser.feed("0") == ["[[0"]
    assert parser.feed("]] `b") == ["]] `b"]
    assert parser.feed("` [[motion:nod]") == ["` "]
    assert parser.feed("x") == ["[[motion:nod]x"]
    assert parser.feed("\n```py") == ["\n```py"]
    assert parser.feed("\n[[motion:") == ["\n[[motion:"]
    assert parser.close() == []


@pytest.mark.parametrize(
    "code",
    [
        "`[[motion:nod]]`",
        "``a ` [[motion:nod]] ` b``",
        "Write `a[0]`, then ``[[expression:smile]]``.",
        "```\n[[motion:nod]]\n```\n",
        "```python title=[[motion:nod]]\nx = 1\n```",
        "~~~\n[[motion:nod]]\n```\n[[motion:nod]]\n~~~~ \n",
        "````\n```\n[[motion:nod]]\n```\n````",
        "> ```\n> [[motion:nod]]\n> ```\n",
        "1. Say:\n   ```text\n   [[motion:nod]]\n   ```\n",
        "- ```\n  [[motion:nod]]\n  ```\n",
        "```\r\n[[motion:nod]]\r\n```\r\n",
        "```\n[[motion:nod]]\n``` not the end\n[[motion:nod]]",
        "```\nnever closed [[motion:nod]]",
        "``` [[motion:nod]] ```",
        r"`\` and ` [[motion:nod]] `",
    ],
)
def test_tags_inside_code_are_eaten_no_more(code: str) -> None:
    assert express(code) == [code]
    assert express(*code) == [code]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("A lone ` tick [[motion:nod]] stays", ["A lone ` tick ", NOD, " stays"]),
        ("A lone ` tick\n[[motion:nod]] and `code`", ["A lone ` tick\n", NOD, " and `code`"]),
        ("``a` [[motion:nod]]", ["``a` ", NOD]),
        (r"\`[[motion:nod]]\`", [r"\`", NOD, r"\`"]),
        (r"\\`[[motion:nod]]`", [r"\\`[[motion:nod]]`"]),
        ("```\ncode\n```\n[[motion:nod]]", ["```\ncode\n```\n", NOD]),
        ("see ``` here [[motion:nod]]\nok", ["see ``` here ", NOD, "\nok"]),
        ("~~ no ~~ [[motion:nod]] a ~~~ b [[motion:nod]]", ["~~ no ~~ ", NOD, " a ~~~ b ", NOD]),
        ("`" * 65 + "[[motion:nod]]" + "`" * 65, ["`" * 65, NOD, "`" * 65]),
        ("`" + "x" * 400 + "[[motion:nod]]`", ["`" + "x" * 400, NOD, "`"]),
    ],
)
def test_text_that_only_looks_like_code_keeps_its_cues(reply: str, expected: list[Expressed]) -> None:
    assert express(reply) == expected
    assert express(*reply) == expected


def test_a_marker_right_before_a_fence_does_not_hide_the_fence() -> None:
    reply = "[[motion:nod]]```py\n[[motion:nod]]\n```\n[[motion:nod]]"
    expected = [NOD, "```py\n[[motion:nod]]\n```\n", NOD]
    assert express(reply) == expected
    assert express(*reply) == expected


def marker_of(cue: MotionCue | ExpressionCue) -> str:
    return f"[[{'motion' if isinstance(cue, MotionCue) else 'expression'}:{cue.name}]]"


def test_the_caller_says_which_names_are_allowed() -> None:
    parser = MarkerParser(motions={"wave"}, expressions=())
    assert parser.feed("[[motion:wave]][[motion:nod]][[expression:smile]]") == [MotionCue("wave")]


def oracle(text: str) -> list[Expressed]:
    """The same rules for a whole text at once, line by line, without the bounds on lengths."""
    items: list[Expressed] = []
    fence = ""
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        if fence:
            items.append(line)
            closing = re.fullmatch(rf"[ >]*({re.escape(fence[0])}{{{len(fence)},}})[ ]*\n?", line)
            fence = "" if closing else fence
            continue
        opening = re.match(
            r"(?:[ >]|- |\[\[(?:motion|expression):[a-z-]{1,32}\]\])*(`{3,}(?=[^`]*$)|~{3,})", line
        )
        end = opening.end() if opening else len(line)
        at = 0
        while at < end:
            if line.startswith(("\\\\", "\\`"), at):
                size = 2
            elif ticks := re.compile("`+").match(line, at, end):
                size = len(ticks[0])
                if not (opening and ticks.end() == end):
                    closing = re.compile(rf"(?<!`)`{{{size}}}(?!`)").search(line, at + size)
                    size = closing.end() - at if closing else size
            elif marker := MARKER.match(line, at):
                name = marker[2]
                kind = MotionCue if marker[1] == "motion" else ExpressionCue
                right = (marker[1] == "motion") == (name in {"nod", "shake", "blink"})
                items += [kind(name)] if name in ALLOWED and right else []
                at = marker.end()
                continue
            elif text.endswith(line[at:]) and len(line[at:]) < 46 and re.fullmatch(BEGINNING, line[at:]):
                break
            else:
                size = 1
            items.append(line[at : at + size])
            at += size
        if opening:
            items.append(line[end:])
            fence = opening[1]
    joined: list[Expressed] = []
    for item in items:
        if isinstance(item, str) and joined and isinstance(joined[-1], str):
            joined[-1] += item
        elif item:
            joined.append(item)
    return joined


BEGINNING = (
    "|".join(
        f"(?:{re.escape(whole[:size])})" + ("[a-z-]{0,32}" if size == len(whole) else "")
        for whole in ("[[motion:", "[[expression:")
        for size in range(1, len(whole) + 1)
    )
    + r"|\[\[(?:motion|expression):[a-z-]{1,32}\]"
)

FRAGMENTS = st.lists(
    st.sampled_from(
        [
            *"`~[]:\n \\->ax",
            *("``", "```", "~~~", "\n```", "\n~~~\n", "- ", "你好"),
            *("[[", "[[motion:", "nod]]", "]]"),
            *("[[expression:smile]]", "[[motion:nod]]", "[[motion:talk]]", "[[motion:x-y]]"),
        ]
    ),
    max_size=40,
).map("".join)


@given(FRAGMENTS, CUTS)
def test_every_way_to_cut_a_reply_gives_the_same(reply: str, cuts: list[int]) -> None:
    whole = express(reply)
    assert express(*pieces_of(reply, cuts)) == whole
    assert express(*reply) == whole


@given(FRAGMENTS)
def test_a_stream_is_read_as_the_whole_text_would_be(reply: str) -> None:
    assert express(reply) == oracle(reply)


@given(FRAGMENTS, CUTS)
def test_nothing_is_lost_and_nothing_invented(reply: str, cuts: list[int]) -> None:
    names = {marker[2] for marker in MARKER.finditer(reply)}
    items = read(MarkerParser(names, names), pieces_of(reply, cuts))
    written = "".join(item if isinstance(item, str) else marker_of(item) for item in items)
    assert reply.startswith(written)
    assert re.fullmatch(f"(?:{BEGINNING})?", reply[len(written) :])


@pytest.mark.parametrize(
    "unit",
    ["`", "[", "[[motion:", "`[[motion:nod]]", "\n", "\n- ", "~", " ", "\\", "\n```", "```\n ", "`` `", "x"],
)
def test_a_hostile_reply_holds_little_back(unit: str) -> None:
    parser = MarkerParser()
    items = [item for _ in range(2000) for item in parser.feed(unit)]
    out = sum(len(item if isinstance(item, str) else marker_of(item)) for item in items)
    assert out >= 2000 * len(unit) - 500
