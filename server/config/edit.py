"""Changes values of a TOML text and leaves every other byte as it is: comments, blank lines, order.

Values are written by tomlkit; the spans found by :mod:`server.config.toml_text` are replaced in place, since
tomlkit's own document puts a new key below the comment of the next table and fails on tables that are out of
order. The result is read again
and compared with what it should mean, so that a text that defies this is refused, never damaged.
"""

from __future__ import annotations

import copy
import json
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from server.config.toml_text import Entry, Layout, Section, scan

KeyPath = tuple[str, ...]
Change = tuple[KeyPath, Any]
"""A key and its new value; None removes the key, or the table with all that is in it."""

_DEEPEST: Final = 12
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPED: Final = re.compile(r'[\x00-\x1f\x7f"\\]')


class EditError(Exception):
    """The text is written in a way that can't be changed safely; nothing was changed."""


def changed_data(data: Mapping[str, Any], changes: Iterable[Change]) -> dict[str, Any]:
    """``data`` with ``changes`` made, one after another.

    Raises:
        EditError: a value stands where a change needs a table.
    """
    result = copy.deepcopy(dict(data))
    for path, value in changes:
        table = result
        for key in path[:-1]:
            table = table.setdefault(key, {}) if value is not None else table.get(key, {})
            if not isinstance(table, dict):
                raise EditError(".".join(path))
        if value is None:
            table.pop(path[-1], None)
        else:
            table[path[-1]] = value
    return result


def changed_text(text: str, changes: Iterable[Change]) -> str:
    """``text`` with ``changes`` made, one after another; comments inside a replaced value move above it.

    Raises:
        EditError: the result would not mean what was asked for.
    """
    changes = list(changes)
    wanted = changed_data(tomllib.loads(text), changes)
    for path, value in changes:
        text = _remove(text, path) if value is None else _set(text, path, value)
    try:
        got = tomllib.loads(text)
    except ValueError as error:
        raise EditError(str(error)) from None
    if not _same(got, wanted):
        raise EditError("the change came out differently")
    return text


def flatten(path: KeyPath, value: Any) -> list[Change]:
    """A table as one change a value.

    Raises:
        EditError: nested more deeply than any table of lab.toml.
    """
    if len(path) > _DEEPEST:
        raise EditError("nested too deeply")
    if isinstance(value, dict):
        return [change for key, below in value.items() for change in flatten((*path, str(key)), below)]
    return [(path, value)]


def key_text(path: Iterable[str | int]) -> str:
    """A dotted key as TOML writes it."""
    parts = map(str, path)
    return ".".join(part if _BARE.fullmatch(part) else _quoted(part) for part in parts)


def value_text(value: Any) -> str:
    """A value as TOML writes it, on one line."""
    import tomlkit
    from tomlkit.exceptions import ConvertError

    match value:
        case list() | tuple():
            return "[" + ", ".join(map(value_text, value)) + "]"
        case dict():
            inner = ", ".join(f"{key_text([key])} = {value_text(below)}" for key, below in value.items())
            return "{ " + inner + " }" if inner else "{}"
    try:
        return str(tomlkit.item(value).as_string())
    except ConvertError:
        raise EditError(f"{type(value).__name__} is no TOML value") from None


def _quoted(value: str) -> str:
    return (
        '"' + _ESCAPED.sub(lambda found: json.dumps(found[0])[1:-1].replace("\x7f", "\\u007f"), value) + '"'
    )


def _set(text: str, path: KeyPath, value: Any) -> str:
    layout = scan(text)
    entry = _entry(layout, path)
    if entry is None:
        return _insert(layout, path, value)
    line = _line_start(text, _outermost(layout, entry).start)
    kept = _comment_lines(layout, entry.value_start, entry.value_end, line)
    before, after = text[line : entry.value_start], text[entry.value_end :]
    return text[:line] + kept + before + value_text(value) + after


def _insert(layout: Layout, path: KeyPath, value: Any) -> str:
    for length in range(len(path) - 1, -1, -1):
        parent, rest = path[:length], path[length:]
        entry = _entry(layout, parent) if parent else None
        if entry is not None:
            return _insert_inline(layout, entry, rest, value)
        index = _section(layout, parent)
        if index is not None and len(rest) == 1:
            return _insert_line(layout, index, rest, value)
        sibling = _dotted_sibling(layout, parent)
        if sibling is not None:
            relative = path[len(layout.sections[sibling.section].path) :]
            return _insert_after(layout, sibling, relative, value)
    return _insert_section(layout, path, value)


def _insert_inline(layout: Layout, table: Entry, rest: KeyPath, value: Any) -> str:
    text = layout.text
    if text[table.value_start] != "{":
        raise EditError(key_text(table.path))
    pair = f"{key_text(rest)} = {value_text(value)}"
    last = _children(layout, table)[-1:]
    if last:
        return text[: last[0].value_end] + ", " + pair + text[last[0].value_end :]
    return text[: table.value_start] + "{ " + pair + " }" + text[table.value_end :]


def _insert_line(layout: Layout, index: int, rest: KeyPath, value: Any) -> str:
    entries = [entry for entry in layout.entries if entry.section == index and not entry.inline]
    if entries:
        return _insert_after(layout, entries[-1], rest, value)
    line = f"{key_text(rest)} = {value_text(value)}{_newline(layout.text)}"
    if index == 0:
        return line + layout.text
    return _splice_line(layout.text, layout.sections[index].end, line)


def _insert_after(layout: Layout, entry: Entry, relative: KeyPath, value: Any) -> str:
    text = layout.text
    indent = text[_line_start(text, entry.start) : entry.start]
    line = f"{indent}{key_text(relative)} = {value_text(value)}{_newline(text)}"
    return _splice_line(text, entry.value_end, line)


def _insert_section(layout: Layout, path: KeyPath, value: Any) -> str:
    """A new table, after the last one of its family or at the end."""
    text, newline = layout.text, _newline(layout.text)
    table = path[:-1]
    lines = f"[{key_text(table)}]{newline}{key_text(path[-1:])} = {value_text(value)}{newline}"
    family = max(range(len(layout.sections)), key=lambda index: (_shared(layout, index, table), index))
    if _shared(layout, family, table) == 0 or family == len(layout.sections) - 1:
        if not text.strip():
            return text + lines
        return text + ("" if text.endswith("\n") else newline) + newline + lines
    ends = [entry.value_end for entry in layout.entries if entry.section == family]
    end = _after_own_comments(text, max([layout.sections[family].end, *ends]))
    return _splice_line(text, end, newline + lines)


def _remove(text: str, path: KeyPath) -> str:
    while True:
        layout = scan(text)
        length = len(path)
        entry = next((item for item in layout.entries if item.path[:length] == path), None)
        if entry is not None:
            text = _remove_inline(layout, entry) if entry.inline else _remove_entry(layout, entry)
            continue
        section = next((item for item in layout.sections[1:] if item.path[:length] == path), None)
        if section is None:
            return text
        text = _remove_lines(layout, section.start, section.end)


def _remove_entry(layout: Layout, entry: Entry) -> str:
    return _remove_lines(layout, entry.start, entry.value_end)


def _remove_lines(layout: Layout, start: int, end: int) -> str:
    """Takes away the lines from ``start`` to ``end``, except their comments."""
    text = layout.text
    line, next_line = _line_start(text, start), _next_line(text, end)
    return text[:line] + _comment_lines(layout, line, next_line, line) + text[next_line:]


def _remove_inline(layout: Layout, entry: Entry) -> str:
    text = layout.text
    table = next(item for item in reversed(layout.entries) if _holds(item, entry))
    children = _children(layout, table)
    place = children.index(entry)
    if len(children) == 1:
        return text[: table.value_start] + "{}" + text[table.value_end :]
    if place == 0:
        return text[: entry.start] + text[children[1].start :]
    return text[: children[place - 1].value_end] + text[entry.value_end :]


def _holds(outer: Entry, inner: Entry) -> bool:
    return outer.value_start < inner.start and inner.value_end < outer.value_end


def _children(layout: Layout, table: Entry) -> list[Entry]:
    """The pairs that stand directly in an inline table."""
    inside = [entry for entry in layout.entries if _holds(table, entry)]
    return [entry for entry in inside if not any(_holds(other, entry) for other in inside)]


def _outermost(layout: Layout, entry: Entry) -> Entry:
    return next((item for item in layout.entries if not item.inline and _holds(item, entry)), entry)


def _entry(layout: Layout, path: KeyPath) -> Entry | None:
    return next((entry for entry in layout.entries if entry.path == path), None)


def _section(layout: Layout, path: KeyPath) -> int | None:
    for index, section in enumerate(layout.sections):
        if section.path == path and not section.array:
            return index
    return None


def _dotted_sibling(layout: Layout, parent: KeyPath) -> Entry | None:
    """The last entry of a table that dotted keys alone make (``models.chat.model`` below ``[agent]``)."""
    length = len(parent)
    found = [
        entry
        for entry in layout.entries
        if not entry.inline
        and len(layout.sections[entry.section].path) < length < len(entry.path)
        and entry.path[:length] == parent
    ]
    return found[-1] if found else None


def _shared(layout: Layout, index: int, table: KeyPath) -> int:
    section: Section = layout.sections[index]
    shared = 0
    for ours, theirs in zip(table, section.path, strict=False):
        if ours != theirs:
            break
        shared += 1
    return shared


def _comment_lines(layout: Layout, start: int, end: int, line: int) -> str:
    """The comments between two offsets, one a line, indented like the line at ``line``."""
    text = layout.text
    indent = text[line : len(text) - len(text[line:].lstrip(" \t"))]
    found = [text[first:last] for first, last in layout.comments if start <= first < end]
    return "".join(f"{indent}{comment}{_newline(text)}" for comment in found)


def _after_own_comments(text: str, end: int) -> int:
    """Past the comment lines directly below, where a blank line divides them from what follows."""
    at = _next_line(text, end)
    while text[at : _next_line(text, at)].strip().startswith("#"):
        at = _next_line(text, at)
    follows = text[at : _next_line(text, at)].strip()
    return end if follows else at - 1


def _splice_line(text: str, end: int, line: str) -> str:
    """Puts whole lines after the line in which ``end`` is."""
    at = _next_line(text, end)
    gap = "" if text[:at].endswith("\n") else _newline(text)
    return text[:at] + gap + line + text[at:]


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _next_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _newline(text: str) -> str:
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def _same(got: Any, wanted: Any) -> bool:
    """Equal in type and value; an empty table is as good as none."""
    if isinstance(got, dict) and isinstance(wanted, dict):
        return all(_same(got.get(key, {}), wanted.get(key, {})) for key in {*got, *wanted})
    if isinstance(got, list) and isinstance(wanted, list | tuple):
        return len(got) == len(wanted) and all(map(_same, got, wanted))
    if isinstance(got, float) and isinstance(wanted, float) and math.isnan(got):
        return math.isnan(wanted)
    return type(got) is type(wanted) and bool(got == wanted)
