"""Files whose names come near one that doesn't exist, within a bounded look at the workspace."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from pathlib import Path
from time import monotonic
from typing import Final

from tools.files.names import is_binary_name, is_secret, plain

_ENTRIES: Final = 20_000
_SECONDS: Final = 0.7
_SUGGESTED: Final = 3
_ALIKE: Final = 0.7
_SKIPPED: Final = frozenset(
    {
        "node_modules",
        "__pycache__",
        "site-packages",
        ".venv",
        "venv",
        ".tox",
        ".mypy_cache",
        ".cache",
        "target",
    }
)


def near_names(root: Path, parts: Sequence[str]) -> list[str]:
    """At most three paths (relative, with ``/``) of readable files whose names are like the last part,
    the best first: the same name elsewhere, then likeness of names, then likeness of paths."""
    if not parts:
        return []
    wanted, path = plain(parts[-1]), "/".join(parts).casefold()
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    found: list[tuple[float, float, str]] = []
    for candidate in _files(root):
        alike = _likeness(matcher, plain(candidate[-1]))
        if alike >= _ALIKE:
            text = "/".join(candidate)
            close = SequenceMatcher(None, text.casefold(), path, autojunk=False).ratio()
            found.append((-alike, -close, text))
    return [text for _alike, _close, text in sorted(found)[:_SUGGESTED]]


def _likeness(matcher: SequenceMatcher[str], name: str) -> float:
    """From 0 to 1; cheap where it is small."""
    matcher.set_seq1(name)
    for bound in (matcher.real_quick_ratio, matcher.quick_ratio):
        if bound() < _ALIKE:
            return 0.0
    return matcher.ratio()


def _files(root: Path) -> Iterator[tuple[str, ...]]:
    """Readable files by breadth, links not followed, without what the root's ``.gitignore`` names plainly."""
    ignored = _ignored(root)
    until = monotonic() + _SECONDS
    left = _ENTRIES
    folders: list[tuple[str, ...]] = [()]
    for folder in folders:
        try:
            with os.scandir(root.joinpath(*folder)) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0 or monotonic() > until:
                        return
                    path = (*folder, entry.name)
                    if any(fnmatchcase(entry.name, pattern) for pattern in ignored) or is_secret(path):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in _SKIPPED:
                            folders.append(path)
                    elif entry.is_file(follow_symlinks=False) and not is_binary_name(entry.name):
                        yield path
        except OSError:
            continue


def _ignored(root: Path) -> tuple[str, ...]:
    """The root's ``.gitignore`` as far as it consists of names: good enough for suggestions."""
    try:
        with (root / ".gitignore").open(encoding="utf-8", errors="replace") as file:
            lines = file.read(100_000).splitlines()
    except OSError:
        return ()
    names = (line.strip().strip("/") for line in lines if not line.lstrip().startswith(("#", "!")))
    return tuple(name for name in names if name and "/" not in name)[:200]
