"""One SQLite file, used from one thread.

Every operation is a function that gets the connection and runs as one transaction: either all of
it is kept or nothing. Operations run in the order in which they were submitted, also when their
caller no longer waits, so that a cancelled turn can't tear a write apart.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

from server.storage.migrations import MIGRATIONS

T = TypeVar("T")
Problem = Literal["set_aside", "newer", "unwritable"]

_BUSY_TIMEOUT_S = 2.0


class Database:
    """Opens ``path``, or keeps everything in memory where that can't be.

    A file that is no database is set aside under another name, never overwritten. One from a newer
    version, or one that can't be written, stays untouched and this run keeps nothing.

    Attributes:
        problem: why ``path`` is not in use as it was, or None.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem: Problem | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database")
        self._connection: sqlite3.Connection | None = None

    async def open(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._open)

    def run(self, operation: Callable[[sqlite3.Connection], T]) -> Awaitable[T]:
        """Runs ``operation`` as one transaction; the result may be left unawaited.

        Raises (when awaited):
            sqlite3.Error: it failed and was rolled back.
        """
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._thread, self._transaction, operation)
        work.add_done_callback(_retrieve)
        return asyncio.shield(work)

    async def close(self) -> None:
        """Waits for what was submitted, then closes the file."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown(wait=False)

    def _open(self) -> None:
        try:
            self._connection = _connect(str(self.path))
            return
        except _NewerVersion:
            self.problem = "newer"
        except sqlite3.OperationalError:
            self.problem = "unwritable"
        except sqlite3.DatabaseError:
            self.problem = "set_aside" if _set_aside(self.path) else "unwritable"
        try:
            kept = str(self.path) if self.problem == "set_aside" else ":memory:"
            self._connection = _connect(kept)
        except sqlite3.Error:
            self.problem = "unwritable"
            self._connection = _connect(":memory:")

    def _transaction(self, operation: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._connection
        if connection is None:
            raise sqlite3.ProgrammingError("the database is not open")
        connection.execute("BEGIN IMMEDIATE")
        try:
            result = operation(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return result

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def inspect(path: Path) -> Problem | None:
    """What is wrong with the file at ``path``, without changing it; None where it doesn't exist."""
    if not path.exists():
        return None
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            _refuse_newer(connection)
    except _NewerVersion:
        return "newer"
    except sqlite3.OperationalError:
        return "unwritable"
    except sqlite3.DatabaseError:
        return "set_aside"
    return None


class _NewerVersion(Exception):
    """The file was written by a newer version of the companion."""


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        _refuse_newer(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        _migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _refuse_newer(connection: sqlite3.Connection) -> None:
    if _version(connection) > len(MIGRATIONS):
        raise _NewerVersion


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _migrate(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection)
        for statements in MIGRATIONS[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _retrieve(work: asyncio.Future[T]) -> None:
    """Marks a failure as seen: whoever awaits the work gets it, and nobody has to."""
    if not work.cancelled():
        work.exception()


def _set_aside(path: Path) -> bool:
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    try:
        path.rename(path.with_name(f"{path.name}.unreadable-{stamp}"))
    except OSError:
        return False
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    return True
