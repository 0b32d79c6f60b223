"""Edits keep every comment, blank line and order."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from server.config.edit import Change, EditError, changed_data, changed_text, flatten, value_text
from server.config.toml_text import scan


def edit(text: str, *changes: Change) -> str:
    return changed_text(text, changes)


def test_a_value_is_replaced_where_it_stands() -> None:
    text = "# top\n\n[chat] # c\n  temperature   =  0.7   # warm\nx = 1\n"
    assert edit(text, (("chat", "temperature"), 1)) == text.replace("0.7", "1")


def test_a_new_key_stands_below_its_table_and_above_the_next_ones_comment() -> None:
    assert edit("[a]\nx = 1 # one\n\n# about b\n[b]\ny = 2\n", (("a", "z"), True)) == (
        "[a]\nx = 1 # one\nz = true\n\n# about b\n[b]\ny = 2\n"
    )


def test_a_new_table_stands_with_its_family() -> None:
    text = '[agent.models.chat]\nprovider = ""\n# model = "x"\n\n# loop\n[agent.tool_loop]\n\n[chat]\n'
    assert edit(text, (("agent", "models", "vision", "provider"), "o")) == (
        '[agent.models.chat]\nprovider = ""\n# model = "x"\n\n[agent.models.vision]\nprovider = "o"\n'
        "\n# loop\n[agent.tool_loop]\n\n[chat]\n"
    )


def test_a_new_table_of_no_family_stands_at_the_end() -> None:
    assert edit("[a]\nx = 1", (("b", "y"), "z")) == '[a]\nx = 1\n\n[b]\ny = "z"\n'


def test_an_empty_file_can_be_edited() -> None:
    assert edit("", (("a", "b", "c"), 1.5)) == "[a.b]\nc = 1.5\n"


def test_tables_out_of_order_are_edited_where_they_stand() -> None:
    text = "[a.b]\nx = 1\n[c]\ny = 1\n[a.d]\nz = 1\n"
    assert edit(text, (("a", "d", "z"), 2), (("a", "b", "w"), 3)) == (
        "[a.b]\nx = 1\nw = 3\n[c]\ny = 1\n[a.d]\nz = 2\n"
    )


def test_dotted_keys_get_dotted_neighbours() -> None:
    text = "[agent]\nmodels.chat.provider = 'a' # who\nenable_mcp = true\n"
    assert edit(text, (("agent", "models", "chat", "model"), "m")) == (
        "[agent]\nmodels.chat.provider = 'a' # who\nmodels.chat.model = \"m\"\nenable_mcp = true\n"
    )


def test_inline_tables_are_edited_inside() -> None:
    text = "m = { nod = { group = 'a', index = 0 } } # all\n"
    assert edit(text, (("m", "nod", "index"), 2), (("m", "shake", "group"), "b")) == (
        "m = { nod = { group = 'a', index = 2 }, shake.group = \"b\" } # all\n"
    )


def test_removing_keeps_comments() -> None:
    text = "[a]\n# before\nx = [ # one\n  1, # two\n] # three\n# after\ny = 2\n"
    assert edit(text, (("a", "x"), None)) == "[a]\n# before\n# one\n# two\n# three\n# after\ny = 2\n"


def test_comments_inside_a_replaced_list_move_above_it() -> None:
    text = "[a]\n  x = [ # one\n    1, # two\n  ] # three\n"
    assert edit(text, (("a", "x"), [2])) == "[a]\n  # one\n  # two\n  x = [2] # three\n"


def test_a_whole_table_is_removed_with_its_subtables() -> None:
    text = "[a.b]\nx = 1\n[a.b.c] # c\ny = 1\n[d]\nz = 1\n"
    assert edit(text, (("a", "b"), None)) == "# c\n[d]\nz = 1\n"


def test_removing_from_inline_tables() -> None:
    text = "a = { x = 1, y = 2, z = 3 }\n"
    assert edit(text, (("a", "y"), None)) == "a = { x = 1, z = 3 }\n"
    assert edit(text, (("a", "x"), None), (("a", "z"), None)) == "a = { y = 2 }\n"
    assert edit("a = { x = 1 }\n", (("a", "x"), None)) == "a = {}\n"


def test_removing_what_is_not_there_changes_nothing() -> None:
    text = "# c\n[a]\nx = 1\n"
    assert edit(text, (("a", "y"), None), (("b", "c"), None)) == text


def test_windows_line_ends_are_kept() -> None:
    text = "[a]\r\nx = 1 # c\r\n\r\n[b]\r\n"
    assert edit(text, (("a", "y"), 2), (("b", "z"), 3), (("c", "w"), 4)) == (
        "[a]\r\nx = 1 # c\r\ny = 2\r\n\r\n[b]\r\nz = 3\r\n\r\n[c]\r\nw = 4\r\n"
    )


def test_odd_texts_are_written_so_that_they_come_back() -> None:
    odd = 'quo"te \\ back\nline\ttab \x7f \x00 é 猫 😀'
    assert tomllib.loads(edit("", (("a", "b"), odd)))["a"]["b"] == odd


def test_a_value_in_the_way_of_a_table_is_refused() -> None:
    with pytest.raises(EditError):
        edit("[a]\nx = 1\n", (("a", "x", "y"), 2))


def test_a_table_in_the_way_of_a_value_is_refused() -> None:
    with pytest.raises(EditError):
        edit("[a.x]\ny = 1\n", (("a", "x"), 2))


def test_tables_become_one_change_a_value() -> None:
    assert flatten(("a",), {"b": {"c": 1}, "d": [2]}) == [(("a", "b", "c"), 1), (("a", "d"), [2])]


def test_endless_nesting_is_refused() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = {"a": deep}
    with pytest.raises(EditError):
        flatten(("a",), deep)


# --- any text, any edits ----------------------------------------------------------------------

NAMES = ("a", "b", "c-1", "d d", "é")
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
scalars = st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
lists = st.lists(scalars, max_size=3)
paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map(tuple)
changes = st.lists(
    st.tuples(paths, scalars | lists | st.none() | st.fixed_dictionaries({"a": scalars})),
    min_size=1,
    max_size=5,
)


@dataclass
class Writer:
    """Writes a random, valid TOML text full of numbered comments."""

    draw: st.DrawFn
    newline: str
    lines: list[str] = field(default_factory=list)
    comments: int = 0

    def comment(self) -> str:
        self.comments += 1
        return f"# comment {self.comments} ] }} ' \" ="

    def maybe_comment(self) -> str:
        return f" {self.comment()}" if self.draw(st.booleans()) else ""

    def gap(self) -> None:
        for _ in range(self.draw(st.integers(0, 2))):
            self.lines.append(self.comment() if self.draw(st.booleans()) else "")

    def value(self, data: Any) -> str:
        if isinstance(data, list) and self.draw(st.booleans()):
            inner = "".join(f"{self.newline}  {value_text(item)},{self.maybe_comment()}" for item in data)
            return f"[{self.maybe_comment()}{inner}{self.newline}]"
        if isinstance(data, str) and self.draw(st.booleans()):
            escaped = value_text(data)[1:-1]
            return f'"""{escaped}"""'
        return value_text(data)

    def pairs(self, data: dict[str, Any]) -> None:
        for key, value in data.items():
            if isinstance(value, dict):
                continue
            self.gap()
            indent = " " * self.draw(st.integers(0, 2))
            written = self.value(value)
            self.lines.append(f"{indent}{value_text(key)} = {written}{self.maybe_comment()}")

    def dotted(self, path: tuple[str, ...], data: dict[str, Any]) -> None:
        for key, value in data.items():
            if isinstance(value, dict) and value:
                self.dotted((*path, key), value)
            else:
                self.gap()
                name = ".".join(value_text(part) for part in (*path, key))
                self.lines.append(f"{name} = {self.value(value)}{self.maybe_comment()}")

    def table(self, path: tuple[str, ...], data: dict[str, Any]) -> None:
        if path:
            self.gap()
            header = ".".join(value_text(part) for part in path)
            self.lines.append(f"[{header}]{self.maybe_comment()}")
        self.pairs(data)
        with_header = []
        for key, value in data.items():
            if isinstance(value, dict):
                style = self.draw(st.sampled_from(["header", "header", "inline", "dotted"]))
                if style == "inline":
                    self.lines.append(f"{value_text(key)} = {value_text(value)}{self.maybe_comment()}")
                elif style == "dotted" and value:
                    self.dotted((key,), value)
                else:
                    with_header.append((key, value))
        for key, value in with_header:
            self.table((*path, key), value)
        self.gap()


tables = st.recursive(
    st.dictionaries(st.sampled_from(NAMES), scalars | lists, max_size=3),
    lambda below: st.dictionaries(st.sampled_from(NAMES), scalars | lists | below, max_size=3),
    max_leaves=6,
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    writer = Writer(draw, draw(st.sampled_from(["\n", "\r\n"])))
    writer.table((), draw(tables))
    return writer.newline.join(writer.lines) + draw(st.sampled_from(["", writer.newline]))


def comments(text: str) -> list[str]:
    layout = scan(text)
    return [text[start:end] for start, end in layout.comments]


@settings(max_examples=300, deadline=None)
@given(documents(), changes)
def test_any_edits_keep_every_comment_and_mean_what_was_asked(text: str, wanted: list[Change]) -> None:
    wanted = [leaf for path, value in wanted for leaf in flatten(path, value)]
    before = tomllib.loads(text)
    try:
        after = changed_data(before, wanted)
    except EditError:
        assume(False)
    try:
        edited = changed_text(text, wanted)
    except EditError:
        assert any(_replaces_a_table(before, wanted[: index + 1]) for index in range(len(wanted)))
        return
    assert sorted(comments(edited)) == sorted(comments(text))
    assert _pruned(tomllib.loads(edited)) == _pruned(after)


@settings(max_examples=200, deadline=None)
@given(documents(), paths, scalars)
def test_one_edit_leaves_every_other_line_as_it_is(text: str, path: tuple[str, ...], value: Any) -> None:
    try:
        edited = changed_text(text, [(path, value)])
    except EditError:
        assume(False)
    layout = scan(text)
    touched = {
        text.count("\n", 0, entry.start) + offset
        for entry in layout.entries
        if path[: len(entry.path)] == entry.path
        for offset in range(text.count("\n", entry.start, entry.value_end) + 1)
    }
    rest = iter(edited.splitlines())
    kept = [line for number, line in enumerate(text.split("\n")) if number not in touched]
    for line in "\n".join(kept).splitlines():
        assert line in rest, f"{line!r} is gone or moved"


def _replaces_a_table(data: Any, wanted: list[Change]) -> bool:
    """Whether the last change puts a value where a table is: refused, since it would lose what is in it."""
    *earlier, (path, value) = wanted
    data = changed_data(data, earlier)
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return value is not None and isinstance(data, dict)


def _pruned(data: Any) -> Any:
    """Without empty tables, and with types told apart."""
    if isinstance(data, dict):
        below = {key: _pruned(value) for key, value in data.items()}
        return {key: value for key, value in below.items() if value != {}}
    if isinstance(data, list):
        return [_pruned(item) for item in data]
    return (type(data).__name__, repr(data))
