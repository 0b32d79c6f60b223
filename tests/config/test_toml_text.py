"""Where things stand in a TOML text."""

from __future__ import annotations

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from server.config.edit import value_text
from server.config.toml_text import scan

TEXT = '''# head
top = "a # no comment ] }"   # one

[a]
x = [ # two
  1,
  { deep = "]" },
]
b.c = \'\'\'
[not.a.table]
# no comment \'\'\'
"quo.ted" = """x \\""" y"""
[a."b.d"]  # three
in = { one = 1, two.three = [1, 2], four = { five = 5 } }
[[list]]
x = 1
[[list]]
x = 1979-05-27 07:32:00 # four
[list.sub]
y = -0.5e3
'''


def test_every_value_is_found_where_it_stands() -> None:
    layout = scan(TEXT)
    found = {entry.path: layout.text[entry.value_start : entry.value_end] for entry in layout.entries}
    assert found[("top",)] == '"a # no comment ] }"'
    assert found[("a", "x", 1)] == '{ deep = "]" }'
    assert found[("a", "x", 1, "deep")] == '"]"'
    assert found[("a", "b", "c")].startswith("'''")
    assert found[("a", "quo.ted")] == '"""x \\""" y"""'
    assert found[("a", "b.d", "in", "two", "three", 1)] == "2"
    assert found[("list", 1, "x")] == "1979-05-27 07:32:00"
    assert found[("list", 1, "sub", "y")] == "-0.5e3"


def test_every_comment_is_found() -> None:
    layout = scan(TEXT)
    assert [layout.text[start:end] for start, end in layout.comments] == [
        "# head", "# one", "# two", "# three", "# four",
    ]  # fmt: skip


def test_lines_are_those_of_the_keys_and_of_what_is_around_them() -> None:
    layout = scan(TEXT)
    assert layout.line(("top",)) == 2
    assert layout.line(("a",)) == 4
    assert layout.line(("a", "x", 0)) == 6
    assert layout.line(("a", "x", 1, "deep", "unknown")) == 7
    assert layout.line(("a", "b", "c")) == 9
    assert layout.line(("a", "b.d")) == 13
    assert layout.line(("list", 1, "x")) == 18
    assert layout.line(("nothing",)) is None


keys = st.text(alphabet="ab-_.\"' é", max_size=3)
scalars = st.one_of(
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.datetimes().map(lambda moment: moment.replace(microsecond=0)),
)
values = st.recursive(
    scalars,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(keys, below, max_size=3),
    max_leaves=8,
)


def leaves(data: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    if isinstance(data, dict):
        return [leaf for key, below in data.items() for leaf in leaves(below, (*path, key))]
    if isinstance(data, list):
        return [leaf for index, below in enumerate(data) for leaf in leaves(below, (*path, index))]
    return [(path, data)]


@given(st.dictionaries(keys, values, max_size=4))
def test_values_are_written_so_that_toml_reads_them_back(data: dict[str, Any]) -> None:
    text = f"data = {value_text(data)}\n"
    assert tomllib.loads(text) == {"data": data}
    layout = scan(text)
    found = {entry.path: text[entry.value_start : entry.value_end] for entry in layout.entries}
    for path, value in leaves(data):
        assert tomllib.loads(f"x = {found[('data', *path)]}")["x"] == value
