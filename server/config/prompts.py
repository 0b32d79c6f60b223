"""Prompts and paths that lab.toml names: text, or a file beside it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

_SUFFIXES = (".md", ".txt")


def is_prompt_path(value: str) -> bool:
    """Whether a prompt is a file's path: one line that ends in ``.md`` or ``.txt``; else it is the text."""
    return "\n" not in value and value.strip().lower().endswith(_SUFFIXES)


def stays_beside(value: str) -> bool:
    """Whether a path is simply relative: not absolute on any system, and without ``..``."""
    posix, windows = PurePosixPath(value), PureWindowsPath(value)
    return not (
        posix.is_absolute() or windows.drive or windows.root or ".." in windows.parts or "\0" in value
    )


def prompt_path(config_path: Path, value: str) -> Path:
    """The file that the prompt ``value`` names, beside the lab.toml at ``config_path``."""
    return config_path.parent / PureWindowsPath(value.strip()).as_posix()


def resolve_prompt(config_path: Path, value: str) -> str:
    """The text of a prompt of lab.toml, read anew each time, so that an edited file counts at once.

    Raises:
        OSError: its file can't be read (loading has refused a missing one; it went since).
        UnicodeDecodeError: its file is not UTF-8.
    """
    if not is_prompt_path(value):
        return value
    return prompt_path(config_path, value).read_text(encoding="utf-8-sig")
