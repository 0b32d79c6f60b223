"""What a client may say about the user's surroundings."""

from __future__ import annotations

from typing import Any

import pytest

from server.session.context import clean, sanitise, storable


def test_known_fields_are_copied_and_cut_to_length() -> None:
    raw = {
        "page": {"type": "post", "title": "t" * 300, "url": "https://example.org", "progress": 0.5},
        "article": {"tags": ["x" * 50] * 20, "headings": ["h"] * 30},
        "editor": {"line": 3, "diagnostics": [{"severity": "error", "message": "m" * 400, "line": 7}]},
    }
    kept = sanitise(raw)
    assert len(kept["page"]["title"]) == 200
    assert kept["page"]["progress"] == 0.5
    assert kept["article"]["tags"] == ["x" * 40] * 10
    assert len(kept["article"]["headings"]) == 20
    assert kept["editor"]["diagnostics"] == [{"severity": "error", "message": "m" * 300, "line": 7}]


@pytest.mark.parametrize(
    "raw",
    [
        None,
        "text",
        [1],
        {"unknown": {"a": 1}},
        {"page": "no object"},
        {"page": {"title": 5}},
        {"page": {"progress": True}},
        {"page": {"progress": float("nan")}},
        {"media": {"playing": "yes"}},
        {"article": {"tags": "a"}},
        {"article": {"tags": [1, None, {}]}},
        {"selection": {"text": "  "}},
        {"editor": {"diagnostics": [{"other": 1}, "x"]}},
    ],
)
def test_unknown_fields_and_wrong_types_are_dropped_in_silence(raw: Any) -> None:
    assert sanitise(raw) == {}


def test_invisible_and_unencodable_characters_do_not_pass() -> None:
    assert clean("a\u202eb\x00c\ud800d\U000e0041e\u200df") == "abcde\u200df"


def test_the_users_own_words_keep_direction_marks_but_nothing_unstorable() -> None:
    assert storable("שלום\u200f\x00\ud800\r\nok\t🐈‍⬛") == "שלום\u200f\nok\t🐈‍⬛"
