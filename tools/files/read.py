"""``tool__read_file``: lines of a text file of the workspace."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from server.config.store import ConfigStore
from tools.contract import CallContext, ToolFailure, ToolInfo, ToolResult
from tools.files.near import near_names
from tools.files.place import NotFound, locate, open_inside
from tools.files.text import Excerpt, NoText, read_lines
from tools.threads import run_blocking

_WITH_LINE: Final = re.compile(r"(.*[^:/\\]):([1-9][0-9]{0,8})")
_HEADER_CHARS: Final = 300

READ_FILE: Final = ToolInfo(
    name="tool__read_file",
    description=(
        "Reads a text file of the user's workspace, with line numbers. Give the path relative to the "
        "workspace, and a range of lines where the file is long."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "description": "relative, such as src/app.py"},
            "start_line": {"type": "integer", "minimum": 1, "description": "first line, from 1"},
            "end_line": {"type": "integer", "minimum": 1, "description": "last line"},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
    hint=(
        "Call it once more with the right path relative to the workspace, or with other lines. If there is "
        "no such file, ask the user for the path."
    ),
)


class ReadFile:
    """Reads in a thread of its own; what is read is bounded by the wanted lines and the cap of a result."""

    info = READ_FILE

    def __init__(self, store: ConfigStore) -> None:
        self._store = store

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        path, first = str(arguments["path"]), arguments.get("start_line")
        if first is None and (with_line := _WITH_LINE.fullmatch(path.strip())):
            path, first = with_line[1], int(with_line[2])
        first = int(first or 1)
        last = int(arguments["end_line"]) if arguments.get("end_line") else None
        if last is not None and last < first:
            raise ToolFailure(f"end_line {last} lies before start_line {first}")
        given_up = threading.Event()
        root, own = self._workspace(), self._store.path
        work = partial(_read, root, own, path, first, last, self._max_chars(), given_up)
        try:
            text, file = await run_blocking(work, "read file")
        finally:
            given_up.set()
        return ToolResult.text(text, file=file)

    def _workspace(self) -> Path:
        if not self._store.effective().files:  # it may have been switched off since it was offered
            raise ToolFailure("reading files is switched off", denied=True)
        path = self._store.config.workspace.path
        if not path:
            raise ToolFailure(
                "no workspace is set, so no file can be read: the user sets it in lab.toml, [workspace] path"
            )
        return self._store.path.parent.absolute() / Path(path).expanduser()

    def _max_chars(self) -> int:
        config = self._store.config
        cap = config.tools.bounds(READ_FILE.name).max_result_chars or config.agent.tool_loop.max_result_chars
        return max(cap - _HEADER_CHARS, cap // 2)


def _read(
    root: Path, own: Path, path: str, first: int, last: int | None, max_chars: int, given_up: threading.Event
) -> tuple[str, str]:
    """The text for the tool model, and the file's path relative to ``root``; never that of ``own``."""
    if not root.is_dir():
        raise ToolFailure("the workspace's folder isn't there")
    try:
        parts = locate(root, path)
        if own.exists() and own.samefile(root.joinpath(*parts)):
            raise ToolFailure("that is the companion's own configuration, which may hold keys", denied=True)
        with open_inside(root, parts) as file:
            excerpt = read_lines(file, first, last, max_chars, given_up.is_set)
    except NotFound as missing:
        near = near_names(root, missing.parts)
        told = f"; did you mean {' or '.join(near)}?" if near else ""
        raise ToolFailure(f"{missing}{told}") from None
    except NoText as error:
        raise ToolFailure(str(error)) from None
    except OSError:
        raise ToolFailure("the system couldn't read that file") from None
    name = "/".join(parts)
    return _told(name, excerpt), name


def _told(name: str, excerpt: Excerpt) -> str:
    total = f"{excerpt.total}" if excerpt.whole else f"more than {excerpt.total}"
    if not excerpt.total:
        return f"{name} is empty."
    if not excerpt.lines:
        raise ToolFailure(f"{name} has only {total} lines; line {excerpt.first} is behind its end")
    head = f"{name}, lines {excerpt.first} to {excerpt.last} of {total}"
    if excerpt.encoding not in ("utf-8", "utf-8-sig"):
        head += f" ({excerpt.encoding})"
    if excerpt.more:
        head += f"; there was no room for more: go on with start_line {excerpt.last + 1}"
    if any("\N{REPLACEMENT CHARACTER}" in line for line in excerpt.lines):
        head += "; some characters couldn't be read"
    width = len(str(excerpt.last))
    numbered = (f"{number:>{width}}| {line}" for number, line in enumerate(excerpt.lines, excerpt.first))
    return "\n".join((f"{head}:", *numbered))
