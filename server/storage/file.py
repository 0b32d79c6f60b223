"""Opening the database's file, and what may be wrong with it. Nothing here ever overwrites a file that isn't
known to be ours."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final, Literal

from server.storage.migrations import MIGRATIONS

Problem = Literal["set_aside", "newer", "locked", "unwritable", "not_saved", "rewritten"]

_WAIT_S: Final = 0.25
_CHECKED_ALWAYS: Final = 4 * 1024 * 1024
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_REFUSALS: Final = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM})
_LOCKS: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_MIGRATING_WAIT_MS: Final = 2000


class NewerVersion(Exception):
    """The file was written by a newer version of the companion."""


class Unreadable(Exception):
    """The file is damaged, or no database of the companion's."""


def connect(path: Path) -> sqlite3.Connection:
    """The file at ``path``, made where there is none, as today's version.

    Its pages are checked where that takes no time, or where its last user didn't close it.

    Raises:
        NewerVersion, Unreadable: it must not be touched.
        sqlite3.OperationalError: it can't be opened, or not be brought up to date.
    """
    if path.is_dir():
        raise Unreadable
    thorough = _size(path) <= _CHECKED_ALWAYS or _size(_log_of(path)) > 0
    connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
    try:
        with _Damage():
            check(connection, thorough=thorough)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            _migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_read_only(path: Path) -> sqlite3.Connection:
    """The file at ``path`` where neither it nor its folder can be written.

    Raises:
        NewerVersion, Unreadable, sqlite3.OperationalError: it can't be read as it is.
    """
    # Without a write-ahead log there is nobody who writes: only then may SQLite take the file as unchanging.
    modes = ("mode=ro",) if _size(_log_of(path)) else ("mode=ro", "mode=ro&immutable=1")
    for number, mode in enumerate(modes, 1):
        connection = sqlite3.connect(
            f"{path.as_uri()}?{mode}",
            uri=True,
            timeout=_WAIT_S,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            with _Damage():
                check(connection, thorough=True)
                if _version(connection) < len(MIGRATIONS):
                    raise sqlite3.OperationalError("the file is older and can't be brought up to date")
            return connection
        except sqlite3.OperationalError:
            connection.close()
            if number == len(modes):
                raise
        except BaseException:
            connection.close()
            raise
    raise AssertionError("unreachable")


def in_memory() -> sqlite3.Connection:
    """A database that ends with the process."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _migrate(connection)
    return connection


def obstacle(connection: sqlite3.Connection) -> Problem | None:
    """What keeps others from writing through ``connection`` just now."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(
                f"PRAGMA user_version = {len(MIGRATIONS)}"
            )  # a file may begin, and then refuse
        finally:
            connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        return obstacle_in(error)
    return None


def obstacle_in(error: sqlite3.OperationalError) -> Problem:
    """What ``error`` says that keeps from writing."""
    if is_locked(error):
        return "locked"
    return "unwritable" if _code(error) in _REFUSALS else "not_saved"


def check(connection: sqlite3.Connection, *, thorough: bool) -> None:
    """
    Args:
        thorough: whether every page is looked at (0.2 s for 100 MB), not only the tables' names.

    Raises:
        NewerVersion, Unreadable: it is not ours to use.
    """
    version = _version(connection)
    if version > len(MIGRATIONS):
        raise NewerVersion
    columns = _columns(connection)
    if version < 0 or (version == 0 and columns) or not _expected(version) <= columns:
        raise Unreadable
    if thorough and connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise Unreadable


def inspect(path: Path) -> Problem | None:
    """What is wrong with the file at ``path``, without changing it; None where it doesn't exist."""
    if not os.path.lexists(path):
        return None
    if path.is_dir():
        return "set_aside"
    if not os.access(path, os.W_OK):
        return "unwritable"
    try:
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=_WAIT_S)
        with closing(connection), _Damage():
            check(connection, thorough=True)
    except NewerVersion:
        return "newer"
    except Unreadable:
        return "set_aside"
    except sqlite3.OperationalError as error:
        return "locked" if is_locked(error) else "unwritable"
    return None


def set_aside(path: Path) -> bool:
    """Moves the file at ``path`` to a free name beside it; False where that can't be done."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    aside = path.with_name(f"{path.name}.unreadable-{stamp}")
    try:
        path.rename(aside)
        for suffix in ("-wal", "-shm"):
            if (beside := path.with_name(path.name + suffix)).exists():
                beside.rename(aside.with_name(aside.name + suffix))
    except OSError:
        return False
    return True


def forget_log(path: Path) -> None:
    """Removes what a deleted database left beside it: it would be taken for a part of the next one."""
    for suffix in ("-wal", "-shm"):
        with suppress(OSError):
            path.with_name(path.name + suffix).unlink()


def is_damage(error: BaseException) -> bool:
    """Whether ``error`` says that the file itself is damaged."""
    return _code(error) in _DAMAGE


def is_locked(error: BaseException) -> bool:
    """Whether ``error`` says that another process is using the file."""
    return _code(error) in _LOCKS


class _Damage:
    """Turns SQLite's word for a damaged file into :class:`Unreadable`."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        if error is not None and is_damage(error):
            raise Unreadable from error


def _code(error: BaseException) -> int | None:
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _columns(connection: sqlite3.Connection) -> frozenset[tuple[str, str]]:
    """Every table's columns."""
    return frozenset(
        connection.execute(
            """
            SELECT tables.name, columns.name FROM sqlite_master AS tables
            JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'
            """
        )
    )


@cache
def _expected(version: int) -> frozenset[tuple[str, str]]:
    """The columns that a file of ``version`` has at least."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statements in MIGRATIONS[:version]:
            for statement in statements:
                connection.execute(statement)
        return _columns(connection)


def _migrate(connection: sqlite3.Connection) -> None:
    if _version(connection) == len(MIGRATIONS):
        return
    connection.execute(f"PRAGMA busy_timeout = {_MIGRATING_WAIT_MS}")
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statements in MIGRATIONS[_version(connection) :]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
