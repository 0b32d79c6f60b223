"""Files that are whole or not there: atomic writes, and folders and files that only their user can read."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PRIVATE_FOLDER: Final = 0o700
_PAUSES: Final = (0.01, 0.03, 0.1, 0.3)


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
        _replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


@dataclass(frozen=True, slots=True)
class Write:
    """A file's new content; ``private`` = readable by its user alone."""

    path: Path
    raw: bytes
    private: bool = False


def write_all(writes: Sequence[Write]) -> None:
    """Writes all of them, or none: when one fails, those before it get their old content back.

    Raises:
        OSError: nothing was changed.
    """
    done: list[tuple[Write, bytes | None]] = []
    try:
        for write in writes:
            old = write.path.read_bytes() if write.path.exists() else None
            write_atomically(write.path, write.raw, private=write.private)
            done.append((write, old))
    except OSError:
        for write, old in reversed(done):
            with contextlib.suppress(OSError):
                if old is None:
                    write.path.unlink()
                else:
                    write_atomically(write.path, old, private=write.private)
        raise


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


def _replace(temporary: Path, target: Path) -> None:
    """Windows refuses for as long as a virus scanner or an editor has the target open: usually a moment."""
    for pause in _PAUSES if os.name == "nt" else ():
        try:
            temporary.replace(target)
            return
        except PermissionError:
            time.sleep(pause)
    temporary.replace(target)


def _take_permissions(target: Path, temporary: Path) -> None:
    """Those of the old file; for a new one, what an ordinary new file gets."""
    if target.exists():
        effective = os.access in os.supports_effective_ids
        if not os.access(target, os.W_OK, effective_ids=effective):
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
