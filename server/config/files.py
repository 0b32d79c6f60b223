"""Files that are whole or not there: atomic writes, and folders and files that only their user can read."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700


def private_folder(path: Path) -> None:
    """Makes the folder ``path`` readable by its user alone; one that exists already is left as it is.

    Raises:
        OSError: it can't be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


def write_atomically(path: Path, raw: bytes, *, private: bool = False) -> None:
    """Replaces ``path``'s content by ``raw``: afterwards it is the old or the new, never a part.

    A symbolic link stays one: its target is replaced. The permissions of a file that is there are kept;
    a ``private`` one is made readable by its user alone.

    Raises:
        OSError: nothing was changed.
    """
    target = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        if not private:
            _take_permissions(target, temporary)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def set_aside(path: Path) -> Path:
    """Moves a file that can't be read to a free name beside it, and returns that.

    Raises:
        OSError: it can't be moved.
    """
    aside = free_name(path, "unreadable")
    path.rename(aside)
    return aside


def free_name(path: Path, suffix: str) -> Path:
    """``lab.toml.bak-1`` or the next number that no file has."""
    number = 1
    while (candidate := path.with_name(f"{path.name}.{suffix}-{number}")).exists() or candidate.is_symlink():
        number += 1
    return candidate


def _take_permissions(target: Path, temporary: Path) -> None:
    """Those of the old file; for a new one, what an ordinary new file gets."""
    if target.exists():
        if not os.access(target, os.W_OK):
            raise PermissionError(13, "Permission denied", str(target))
        shutil.copymode(target, temporary)
        if hasattr(os, "chown"):
            with contextlib.suppress(OSError):
                owner = target.stat()
                os.chown(temporary, owner.st_uid, owner.st_gid)
    elif os.name == "posix":
        temporary.chmod(0o666 & ~_umask())


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Makes the rename itself durable where folders can be opened."""
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
