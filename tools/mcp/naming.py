"""Names of MCP tools as models see them: ``server__tool``, whatever a server calls its tools."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Final

from tools.contract import SEPARATOR, TOOL_NAME

_LONGEST: Final = 64
_FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]+")


def public_names(server: str, tools: Iterable[str]) -> dict[str, str]:
    """Public name to the server's own name; the same for the same set of tools, and never two alike.

    A name that fits is kept. Any other is made to fit and carries a digest of itself.
    """
    own = sorted(set(tools))
    names = {f"{server}{SEPARATOR}{name}": name for name in own if _fits(server, name)}
    for name in own:
        if not _fits(server, name):
            names[_free_name(server, name, names)] = name
    return names


def _fits(server: str, name: str) -> bool:
    """``a`` + ``_b`` would look like ``a_`` + ``b``."""
    return not name.startswith("_") and bool(TOOL_NAME.fullmatch(f"{server}{SEPARATOR}{name}"))


def _free_name(server: str, name: str, taken: dict[str, str]) -> str:
    digest = hashlib.sha256(f"{server}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()
    start = _FORBIDDEN.sub("_", name).strip("_")
    length = 6
    while True:
        room = _LONGEST - len(server) - len(SEPARATOR) - 1 - length
        readable = start[: max(0, room)].rstrip("_")
        public = f"{server}{SEPARATOR}{readable}{'_' if readable else ''}{digest[:length]}"
        if public not in taken:
            return public
        length += 1
