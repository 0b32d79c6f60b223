"""One SQLite file, used from one thread.

Every operation is a function that gets the connection and runs as one transaction: either all of
it is kept or nothing. Operations run in the order in which they were submitted, also when their
caller no longer waits, so that a cancelled turn can't tear a write apart.
"""

from __future__ import annotations

import asyncio
import logging
import math
import sqlite3
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final, Literal, TypeVar

from server.storage.file import (
    NewerVersion,
    Problem,
    Unreadable,
    connect,
    connect_read_only,
    forget_log,
    in_memory,
    is_damage,
    is_locked,
    obstacle,
    obstacle_in,
    set_aside,
)

T = TypeVar("T")
log = logging.getLogger(__name__)

_WAIT_S: Final = 2.0
_LAST_WAIT_S: Final = 0.5
_LOOK_EVERY_MS: Final = 20
_TRY_AGAIN_S: Final = 5.0
_PASSING: Final = frozenset({"locked", "unwritable", "not_saved"})
"""Problems that end when something can be written again."""

_Home = Literal["file", "read-only", "memory"]


class Database:
    """Opens ``path``, or does with less where that can't be.

    A file that is damaged or foreign is set aside under another name, never overwritten, also when that shows
    only later. One from a newer version stays untouched and this run keeps nothing. One that is locked or
    can't be written is read, and writing it is tried again and again. One that is deleted is written anew.

    Args:
        wait_s: how long a write waits for another process that is using the file.
        try_again_s: the pause before a file that couldn't be opened is tried again.

    Attributes:
        problem: why not everything is kept as it should be, or None.
    """

    def __init__(self, path: Path, *, wait_s: float = _WAIT_S, try_again_s: float = _TRY_AGAIN_S) -> None:
        self.path = path
        self.problem: Problem | None = None
        self._wait_s = wait_s
        self._try_again_s = try_again_s
        self._try_again_at = 0.0
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._callbacks: list[Callable[[Problem | None], None]] = []
        self._connection: sqlite3.Connection | None = None
        self._home: _Home = "memory"
        self._identity: tuple[int, int] | None = None
        self._deleted = False
        self._latest = math.inf
        self._locked_out = False
        self._closing = False

    async def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._loop.run_in_executor(self._thread, self._open)

    def subscribe(self, callback: Callable[[Problem | None], None]) -> None:
        """Calls ``callback``, in the event loop, whenever :attr:`problem` changes after :meth:`open`."""
        self._callbacks.append(callback)

    def run(self, operation: Callable[[sqlite3.Connection], T]) -> Awaitable[T]:
        """Writes: runs ``operation`` as one transaction; the result may be left unawaited.

        Raises (when awaited):
            sqlite3.Error: it failed and was rolled back.
        """
        return self._submit(operation, self._write)

    def keep(self, operation: Callable[[sqlite3.Connection], T]) -> Awaitable[T]:
        """As :meth:`run`, for what the user counts on: :attr:`problem` tells whether it works."""
        return self._submit(operation, self._keep)

    def read(self, operation: Callable[[sqlite3.Connection], T]) -> Awaitable[T]:
        """As :meth:`run`, for what only reads: others may be writing, or the file be read-only."""
        return self._submit(operation, self._read)

    def hurry(self) -> None:
        """The companion is stopping: from now on, all writes together wait half a second for others."""
        self._latest = min(self._latest, monotonic() + _LAST_WAIT_S)

    async def close(self) -> None:
        """Waits for what was submitted, then closes the file."""
        if self._closing:
            return
        self.hurry()
        self._closing = True
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown(wait=False)

    def _submit(
        self,
        operation: Callable[[sqlite3.Connection], T],
        way: Callable[[Callable[[sqlite3.Connection], T]], T],
    ) -> Awaitable[T]:
        loop = asyncio.get_running_loop()
        if self._closing:
            work: asyncio.Future[T] = loop.create_future()
            work.set_exception(sqlite3.ProgrammingError("the database is closed"))
        else:
            work = loop.run_in_executor(self._thread, way, operation)
        work.add_done_callback(_retrieve)
        return asyncio.shield(work)

    # --- all of the following runs in the database's own thread

    def _open(self) -> None:
        try:
            connection = connect(self.path)
            self.problem = obstacle(connection)
            self._locked_out = self.problem == "locked"
            self._use(connection, "read-only" if self.problem == "unwritable" else "file")
            return
        except NewerVersion:
            self.problem = "newer"
        except Unreadable:
            if self._begin_anew():
                self.problem = "set_aside"
                return
            self.problem = "unwritable"
        except sqlite3.Error as error:
            self.problem = "locked" if is_locked(error) else "unwritable"
            try:
                self._use(connect_read_only(self.path), "read-only")
                return
            except (NewerVersion, Unreadable, sqlite3.Error):
                pass
        self._use(in_memory(), "memory")

    def _write(self, operation: Callable[[sqlite3.Connection], T]) -> T:
        try:
            self._settle()
            connection = self._opened()
            self._begin(connection)
            return _transaction(connection, operation)
        except sqlite3.DatabaseError as error:
            self._replace_damaged(error)
            raise

    def _keep(self, operation: Callable[[sqlite3.Connection], T]) -> T:
        try:
            result = self._write(operation)
        except sqlite3.OperationalError as error:
            if self.problem not in _PASSING:
                self._tell(obstacle_in(error))
            raise
        if self._home == "file" and self.problem in _PASSING:
            self._tell(None)
        return result

    def _read(self, operation: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._opened()
        try:
            connection.execute("BEGIN")
            return _transaction(connection, operation)
        except sqlite3.DatabaseError as error:
            self._replace_damaged(error)
            raise

    def _begin(self, connection: sqlite3.Connection) -> None:
        """Begins to write; waits for others, but not again and again, nor when the companion is stopping."""
        until = monotonic() + (0 if self._locked_out else self._wait_s)
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                self._locked_out = False
                return
            except sqlite3.OperationalError as error:
                if not is_locked(error) or monotonic() >= min(until, self._latest):
                    self._locked_out = is_locked(error)
                    raise

    def _replace_damaged(self, error: sqlite3.DatabaseError) -> None:
        """A file that turns out to be damaged gives way to a new one."""
        if self._home == "memory" or not is_damage(error):
            return
        log.error("%s is damaged", self.path.name)
        self._opened().close()
        if self._begin_anew():
            self._tell("set_aside")
        else:
            self._use(in_memory(), "memory")
            self._tell("unwritable")

    def _begin_anew(self) -> bool:
        """Sets the file aside and makes a new one."""
        if not set_aside(self.path):
            return False
        try:
            self._use(connect(self.path), "file")
        except (NewerVersion, Unreadable, sqlite3.Error):
            return False
        return True

    def _settle(self) -> None:
        """Moves to the file where that is possible by now; to memory, and at once back, where it has gone.

        Raises:
            sqlite3.OperationalError: what is written would be lost.
        """
        if self._home == "file":
            present = _identity(self.path)
            if present == self._identity:
                return
            if present is not None:
                raise sqlite3.OperationalError("another file has taken the database's place")
            self._save_from_deleted_file()
        if self._home == "file" or self.problem not in _PASSING or monotonic() < self._try_again_at:
            return
        self._try_again_at = monotonic() + self._try_again_s
        try:
            self._move()
        except sqlite3.OperationalError:
            if self._home == "read-only":
                raise
            self._tell("unwritable" if self._deleted else self.problem)
            return
        if self._deleted:
            self._tell("rewritten")
        self._deleted = False

    def _save_from_deleted_file(self) -> None:
        """An open file can be read although it has no name any more."""
        log.warning("%s was deleted; it is written anew", self.path.name)
        before, saved = self._opened(), in_memory()
        before.backup(saved)
        before.close()
        forget_log(self.path)
        self._use(saved, "memory")
        self._deleted = True
        self.problem = "not_saved"
        self._try_again_at = 0.0

    def _move(self) -> None:
        """Raises:
        sqlite3.OperationalError: the file can't be opened, or holds what this run doesn't know.
        """
        try:
            found = connect(self.path)
        except (NewerVersion, Unreadable) as error:
            raise sqlite3.OperationalError("the file can't be used") from error
        try:
            if self._home == "memory":
                if found.execute("SELECT 1 FROM sessions LIMIT 1").fetchone() is not None:
                    raise sqlite3.OperationalError("the file holds another chat")
                self._opened().backup(found)
        except BaseException:
            found.close()
            raise
        self._opened().close()
        self._use(found, "file")

    def _tell(self, problem: Problem | None) -> None:
        if problem == self.problem:
            return
        self.problem = problem
        for callback in self._callbacks:
            assert self._loop is not None
            with suppress(RuntimeError):  # the loop is closed: nobody is left to hear it
                self._loop.call_soon_threadsafe(callback, problem)

    def _use(self, connection: sqlite3.Connection, home: _Home) -> None:
        connection.execute(f"PRAGMA busy_timeout = {_LOOK_EVERY_MS}")
        self._connection, self._home = connection, home
        self._identity = _identity(self.path) if home == "file" else None
        self._try_again_at = monotonic() + self._try_again_s

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            raise sqlite3.ProgrammingError("the database is not open")
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _transaction(connection: sqlite3.Connection, operation: Callable[[sqlite3.Connection], T]) -> T:
    """The rest of a transaction that has begun."""
    try:
        result = operation(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def _retrieve(work: asyncio.Future[T]) -> None:
    """Marks a failure as seen: whoever awaits the work gets it, and nobody has to."""
    if not work.cancelled():
        work.exception()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
