"""Opening a file inside the workspace and nowhere else, also while somebody swaps folders for links."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

from tools.contract import ToolFailure
from tools.files.names import BadPath, is_binary_name, is_secret, parts_of

_OUTSIDE: Final = "it lies outside the workspace, and nothing there is read"
_LISTED: Final = 30
_LOOKED_AT: Final = 2000


class NotFound(ToolFailure):
    """There is no such file.

    Args:
        parts: the path that was asked for, relative to the workspace where that could be told.
    """

    def __init__(self, parts: Sequence[str]) -> None:
        super().__init__("there is no such file in the workspace")
        self.parts = tuple(parts)


def locate(root: Path, path: str) -> tuple[str, ...]:
    """The true place of ``path``, as parts relative to ``root``: links followed, nothing opened.

    Args:
        root: the workspace, an existing folder, absolute.
        path: as a model wrote it: relative to ``root``, or absolute and inside it.

    Raises:
        NotFound: nothing is there.
        ToolFailure: it may not be read, or is no file.
    """
    try:
        parts = parts_of(path)
    except BadPath as error:
        raise ToolFailure(str(error)) from None
    if not Path(*parts).is_absolute() and is_secret(parts):
        raise _secret()
    try:
        if not _looks_inside(root, parts):  # then it isn't even asked whether it exists
            raise ToolFailure(_OUTSIDE)
        real = root.joinpath(*parts).resolve(strict=True)
        inside = _inside(root, real)
        if inside is None:
            raise ToolFailure(_OUTSIDE)
        if is_secret(inside):
            raise _secret()
        kind = real.lstat().st_mode
        if stat.S_ISDIR(kind):
            raise ToolFailure(_folder(real))
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(parts) from None
    except (OSError, ValueError, RuntimeError):  # too long a name, a loop of links, no permission
        raise ToolFailure("that path can't be followed") from None
    _check_kind(kind, inside[-1])
    return inside


def open_inside(root: Path, parts: Sequence[str]) -> BinaryIO:
    """Opens the file that :func:`locate` found, certain that it is inside ``root``.

    Raises:
        NotFound: it has gone since.
        ToolFailure: it can't be opened, or has become something else since.
    """
    try:
        descriptor = _open_descriptor(root, parts)
    except FileNotFoundError:
        raise NotFound(parts) from None
    except PermissionError:
        raise ToolFailure("the system doesn't allow that file to be read") from None
    except OSError:
        raise ToolFailure("the file changed while it was being opened") from None
    try:
        _check_kind(os.fstat(descriptor).st_mode, parts[-1])
    except ToolFailure:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _looks_inside(root: Path, parts: Sequence[str]) -> bool:
    """Whether the path leads beneath ``root`` as far as its text tells."""
    whole = os.path.normpath(root.joinpath(*parts)).casefold()
    tops = {os.path.normpath(root).casefold(), os.path.normpath(root.resolve()).casefold()}
    return any(whole == top or whole.startswith(top.rstrip(os.sep) + os.sep) for top in tops)


def _inside(root: Path, real: Path) -> tuple[str, ...] | None:
    """Where ``real`` lies beneath ``root``, by identity: spelling and case don't count."""
    top = root.stat()
    for depth, folder in enumerate((real, *real.parents)):
        if os.path.samestat(folder.stat(), top):
            return real.parts[len(real.parts) - depth :]
    return None


def _check_kind(mode: int, name: str) -> None:
    if not stat.S_ISREG(mode):
        raise ToolFailure("that is no ordinary file, and is not read")
    if is_binary_name(name):
        raise ToolFailure("that file holds no text")


def _folder(real: Path) -> str:
    with os.scandir(real) as entries:
        some = list(islice(entries, _LOOKED_AT))
    names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in some)
    more = " and more" if len(names) > _LISTED else ""
    return f"that is a folder; in it: {', '.join(names[:_LISTED]) or 'nothing'}{more}"


def _secret() -> ToolFailure:
    return ToolFailure("its name says that it holds secrets, so it is not read", denied=True)


if sys.platform == "win32":

    def _open_descriptor(root: Path, parts: Sequence[str]) -> int:
        """An open file keeps its folders from being renamed, so looking again afterwards is certain."""
        path = root.joinpath(*parts)
        descriptor = os.open(path, os.O_RDONLY | os.O_BINARY | os.O_NOINHERIT)
        try:
            real = path.resolve(strict=True)
            inside = _inside(root, real)
            same = os.path.samestat(os.fstat(descriptor), real.stat())
            if inside is None or is_secret(inside) or not same:
                raise OSError("not the file that was found")
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

else:
    _NEVER_A_LINK: Final = os.O_NOFOLLOW | os.O_CLOEXEC

    def _open_descriptor(root: Path, parts: Sequence[str]) -> int:
        """Steps down folder by folder, none of which may be a link: no later swap leads outside."""
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in parts[:-1]:
                below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | _NEVER_A_LINK, dir_fd=folder)
                os.close(folder)
                folder = below
            # O_NONBLOCK: opening a pipe that took the file's place must not wait for a writer.
            flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | _NEVER_A_LINK
            return os.open(parts[-1], flags, dir_fd=folder)
        finally:
            os.close(folder)
