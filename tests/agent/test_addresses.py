"""Web addresses and paths in a text."""

from __future__ import annotations

import pytest

from server.agent.addresses import paths, urls, without_addresses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://example.org/a?b=1#c.", ["https://example.org/a?b=1#c"]),
        ("看看https://example.org/文这个链接", ["https://example.org/"]),
        ("(https://en.wikipedia.org/wiki/Bee_(insect))", ["https://en.wikipedia.org/wiki/Bee_(insect)"]),
        (
            "www.example.org/x and http://localhost:8000",
            ["https://www.example.org/x", "http://localhost:8000"],
        ),
        ("https:// nothing", []),
    ],
)
def test_addresses_end_where_the_sentence_goes_on(text: str, expected: list[str]) -> None:
    assert urls(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("read src/app.ts", ["src/app.ts"]),
        ("看看src/main.py里的函数", ["src/main.py"]),
        ("docs/说明.md 写了什么", ["docs/说明.md"]),
        ("README.md，Makefile", ["README.md", "Makefile"]),
        (r"open C:\work\lab.toml please", [r"C:\work\lab.toml"]),
        (
            "cat ~/notes.txt ./run.sh ../x/y.json /etc/hosts",
            ["~/notes.txt", "./run.sh", "../x/y.json", "/etc/hosts"],
        ),
        ("the folder src/agent/ is large", ["src/agent/"]),
        ("a.py and b.py", ["a.py", "b.py"]),
    ],
)
def test_paths_are_found(text: str, expected: list[str]) -> None:
    assert paths(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Node.js or Vue.js",
        "and/or",
        "24/7 and 1/2",
        "he/she",
        "e.g. this",
        "3.14",
        "https://a.org/b.py",
        "git",
        "wow...",
    ],
)
def test_what_only_looks_like_a_path_is_none(text: str) -> None:
    assert paths(text) == []


def test_both_can_be_taken_out() -> None:
    assert without_addresses("open https://a.org/x or src/a.py", "@") == "open @ or @"
