"""Which way a turn goes, by rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from server.agent.references import Reference
from server.agent.route import AGAIN, TOOLS_OFF, UNSURE, route
from server.session.context import sanitise

CASES = Path(__file__).with_name("route_cases.txt")
CONTEXTS: dict[str, dict[str, Any]] = {
    "article": {"article": {"title": "Why bees matter", "tags": ["bees"], "excerpt": "Bees are"}},
    "page": {"page": {"type": "post", "title": "Why bees matter", "url": "https://example.org/bees"}},
    "media": {"media": {"playing": True, "title": "Clair de lune", "artist": "Debussy"}},
    "selection": {"selection": {"text": "for (;;) {}"}},
    "editor": {"editor": {"file": "main.py", "language": "python", "selection": "while True: pass"}},
    "diagnostics": {
        "editor": {"file": "main.py", "diagnostics": [{"severity": "error", "message": "no x", "line": 3}]}
    },
}


def cases() -> list[tuple[str, dict[str, Any], str]]:
    rows = []
    for line in CASES.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        head, _, text = line.partition(" | ")
        path, *names = head.split()
        context: dict[str, Any] = {}
        for name in names:
            context |= CONTEXTS[name.removeprefix("@")]
        rows.append((path, sanitise(context), text))
    return rows


def test_the_table_is_large() -> None:
    assert len(cases()) >= 150


@pytest.mark.parametrize(("path", "context", "text"), cases())
def test_a_message_takes_its_way(path: str, context: dict[str, Any], text: str) -> None:
    taken = route(text, context, True)
    assert taken.path == path, taken.reasons
    assert taken.reasons


@pytest.mark.parametrize(("path", "context", "text"), cases())
def test_every_turn_is_fast_where_tools_are_off(path: str, context: dict[str, Any], text: str) -> None:
    assert route(text, context, False).reasons == [TOOLS_OFF]
    assert route(text, context, False).path == "fast"


def test_what_cannot_be_told_says_so() -> None:
    assert route("why is the sky blue?", {}, True).reasons == [UNSURE]


def test_no_clock_is_asked_for_where_time_only_flies() -> None:
    for text in ("时光飞逝", "time flies", "time flies by so fast", "时光飞逝，我又老了一岁"):
        assert "asks for the time or date" not in route(text, {}, True).reasons


def test_a_list_of_playlists_is_no_question_about_what_is_playing() -> None:
    taken = route("有哪些歌单", sanitise(CONTEXTS["media"]), True)
    assert taken.path == "tool"
    assert taken.reasons == ["asks for the player or its lists"]


def test_a_resolved_reference_makes_a_tool_turn() -> None:
    taken = route("第二个怎么样", {}, True, refs=[Reference("search_result", "https://example.org/2")])
    assert (taken.path, taken.reasons) == ("tool", ["refers to an earlier search result"])


@pytest.mark.parametrize("text", ["再来一次", "again", "try again please", "重试", "再试试"])
def test_again_after_a_tool_means_that_tool(text: str) -> None:
    assert route(text, {}, True, last_tool="tests__run").reasons == [AGAIN]
    assert route(text, {}, True).path == "both"


def test_of_a_pasted_log_only_the_ends_count() -> None:
    log = "git status; pytest; what time is it?\n" * 100
    taken = route("I wonder about " + "x" * 400 + log + "x" * 400 + " whatever that is", {}, True)
    assert taken.path == "both"
