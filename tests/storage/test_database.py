"""The database against files that can't be used, and files that change under it."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, TypeVar

import pytest

from server.storage.database import Database
from server.storage.file import inspect
from server.storage.migrations import MIGRATIONS

POSIX = sys.platform != "win32"
PAGE = 4096

Test = TypeVar("Test")


def count(connection: sqlite3.Connection) -> int:
    value: int = connection.execute("SELECT count(*) FROM usage").fetchone()[0]
    return value


def insert(connection: sqlite3.Connection, day: str = "2026-01-01") -> None:
    connection.execute("INSERT INTO usage VALUES (?, 'chat', 1, 1)", (day,))


def insert_many(connection: sqlite3.Connection) -> None:
    for number in range(2000):
        insert(connection, f"day {number}")


def read_all_from_disk(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA shrink_memory")
    connection.execute("SELECT * FROM usage ORDER BY day").fetchall()


async def opened(path: Path, **options: Any) -> Database:
    database = Database(path, **options)
    await database.open()
    return database


async def filled(path: Path) -> None:
    database = await opened(path)
    await database.run(insert_many)
    await database.close()


@asynccontextmanager
async def database_at(path: Path, **options: Any) -> AsyncIterator[Database]:
    database = await opened(path, **options)
    try:
        yield database
    finally:
        await database.close()


def unless_root(test: Test) -> Test | None:
    """Nothing is refused to root: for it, such a test doesn't exist."""
    return test if hasattr(os, "geteuid") and os.geteuid() != 0 else None


def protect(folder: Path) -> None:
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)


def unprotect(folder: Path) -> None:
    folder.chmod(0o755)
    for path in folder.iterdir():
        path.chmod(0o644)


def aside(folder: Path) -> list[Path]:
    return [Path(entry) for entry in os.scandir(folder) if "unreadable" in entry.name]


async def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    async with database_at(tmp_path / "pet.db") as database:
        await database.run(insert)
    async with database_at(tmp_path / "pet.db") as database:
        assert database.problem is None
        assert await database.read(count) == 1


async def test_a_failed_operation_leaves_nothing_behind(tmp_path: Path) -> None:
    def half(connection: sqlite3.Connection) -> None:
        insert(connection)
        connection.execute("INSERT INTO nowhere VALUES (1)")

    async with database_at(tmp_path / "pet.db") as database:
        with pytest.raises(sqlite3.Error):
            await database.run(half)
        assert await database.read(count) == 0


async def test_an_operation_finishes_although_its_caller_was_cancelled(tmp_path: Path) -> None:
    async with database_at(tmp_path / "pet.db") as database:

        async def write() -> None:
            await database.run(insert)

        task = asyncio.create_task(write())
        await asyncio.sleep(0)
        task.cancel()
        assert await database.run(count) == 1


async def test_a_history_file_that_cannot_be_read_is_set_aside_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "pet.db"
    path.write_bytes(b"this is no database, but somebody's" * 100)
    assert inspect(path) == "set_aside"
    async with database_at(path) as database:
        assert database.problem == "set_aside"
        await database.run(insert)
    (kept,) = aside(tmp_path)
    assert kept.read_bytes().startswith(b"this is no database")


@pytest.mark.parametrize("garbage", [os.urandom, bytes], ids=["random", "zero"])
@pytest.mark.parametrize("pages", [1, None], ids=["one page", "all pages"])
async def test_a_sound_header_over_damaged_pages_is_set_aside_at_the_start(
    tmp_path: Path, garbage: Callable[[int], bytes], pages: int | None
) -> None:
    path = tmp_path / "pet.db"
    await filled(path)
    raw = path.read_bytes()
    end = len(raw) if pages is None else PAGE * (1 + pages)
    path.write_bytes(raw[:PAGE] + garbage(end - PAGE) + raw[end:])
    assert inspect(path) == "set_aside"
    async with database_at(path) as database:
        assert database.problem == "set_aside"
        await database.run(insert)
    assert len(aside(tmp_path)) == 1
    async with database_at(path) as database:
        assert database.problem is None
        assert await database.read(count) == 1


async def test_damage_that_shows_while_running_gives_way_to_a_new_file_and_is_told(tmp_path: Path) -> None:
    path = tmp_path / "pet.db"
    await filled(path)
    async with database_at(path) as database:
        told: asyncio.Queue[str | None] = asyncio.Queue()
        database.subscribe(told.put_nowait)
        with path.open("r+b") as file:
            file.seek(PAGE)
            file.write(os.urandom(path.stat().st_size - PAGE))
        with pytest.raises(sqlite3.DatabaseError):
            await database.read(read_all_from_disk)
        async with asyncio.timeout(5):
            assert await told.get() == "set_aside"
        await database.run(insert)
        assert await database.read(count) == 1
    assert len(aside(tmp_path)) == 1


@pytest.mark.parametrize(
    "statements",
    [
        ("CREATE TABLE sessions (x)",),
        ("CREATE TABLE messages (x)", f"PRAGMA user_version = {len(MIGRATIONS)}"),
        ("PRAGMA user_version = -5",),
    ],
    ids=["a foreign schema without a version", "a foreign schema at our version", "a negative version"],
)
async def test_a_foreign_database_is_set_aside(tmp_path: Path, statements: tuple[str, ...]) -> None:
    path = tmp_path / "pet.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    assert inspect(path) == "set_aside"
    async with database_at(path) as database:
        assert database.problem == "set_aside"
        await database.run(insert)
    assert len(aside(tmp_path)) == 1


async def test_a_folder_in_the_place_of_the_file_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "pet.db"
    path.mkdir()
    (path / "somebody's").write_text("kept")
    assert inspect(path) == "set_aside"
    async with database_at(path) as database:
        assert database.problem == "set_aside"
        await database.run(insert)
    (kept,) = aside(tmp_path)
    assert (kept / "somebody's").read_text() == "kept"


async def test_a_file_from_a_newer_version_stays_untouched(tmp_path: Path) -> None:
    path = tmp_path / "pet.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    before = path.read_bytes()
    async with database_at(path) as database:
        assert database.problem == "newer"
        await database.run(insert)
    assert path.read_bytes() == before


async def test_a_folder_that_cannot_be_written_still_gives_a_database_for_this_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    async with database_at(tmp_path / "file" / "pet.db") as database:
        assert database.problem == "unwritable"
        await database.run(insert)
        assert await database.read(count) == 1


async def test_what_was_kept_in_memory_moves_to_the_file_once_the_file_can_be_made(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with database_at(folder / "pet.db", try_again_s=0) as database:
        assert database.problem == "unwritable"
        await database.run(insert)
        folder.mkdir()
        await database.keep(lambda connection: insert(connection, "2026-01-02"))
        assert database.problem is None
    async with database_at(folder / "pet.db") as database:
        assert await database.read(count) == 2


async def test_a_file_that_is_locked_at_the_start_is_read_and_written_when_the_lock_is_gone(
    tmp_path: Path,
) -> None:
    path = tmp_path / "pet.db"
    await filled(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        async with database_at(path, wait_s=0) as database:
            assert database.problem == "locked"
            assert await database.read(count) == 2000
            with pytest.raises(sqlite3.OperationalError):
                await database.run(insert)
            assert database.problem == "locked"
            other.execute("ROLLBACK")
            await database.keep(insert)
            assert database.problem is None
            assert await database.read(count) == 2001


async def test_stopping_does_not_wait_for_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "pet.db"
    await filled(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        database = await opened(path, wait_s=3600)
        other.execute("BEGIN IMMEDIATE")
        writes = [database.run(insert) for _ in range(8)]
        async with asyncio.timeout(10):
            await database.close()
            results = await asyncio.gather(*writes, return_exceptions=True)
        assert all(isinstance(result, sqlite3.OperationalError) for result in results)


async def test_after_the_first_write_that_met_a_lock_the_next_ones_do_not_wait_for_it(tmp_path: Path) -> None:
    path = tmp_path / "pet.db"
    await filled(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with database_at(path, wait_s=3600) as database, asyncio.timeout(10):
            for _ in range(3):
                with pytest.raises(sqlite3.OperationalError):
                    await database.run(insert)


async def test_what_is_asked_after_closing_fails_like_anything_that_cannot_be_stored(tmp_path: Path) -> None:
    database = await opened(tmp_path / "pet.db")
    await database.close()
    with pytest.raises(sqlite3.Error):
        await database.run(insert)


@pytest.mark.skipif(not POSIX, reason="Windows doesn't let a file that is open be deleted")
async def test_a_file_that_is_deleted_while_running_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "pet.db"
    await filled(path)
    async with database_at(path) as database:
        await database.run(lambda connection: insert(connection, "in the log alone"))
        path.unlink()
        await database.run(insert)
        assert database.problem == "rewritten"
    async with database_at(path) as database:
        assert database.problem is None
        assert await database.read(count) == 2002


@pytest.mark.skipif(not POSIX, reason="Windows doesn't let a file that is open be deleted")
async def test_a_data_folder_that_is_deleted_while_running_is_told_and_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    path = folder / "pet.db"
    await filled(path)
    async with database_at(path, try_again_s=0) as database:
        shutil.rmtree(folder)
        await database.run(insert)
        problems = [database.problem]
        folder.mkdir()
        await database.run(lambda connection: insert(connection, "2026-01-02"))
        problems.append(database.problem)
        assert problems == ["unwritable", "rewritten"]
    async with database_at(path) as database:
        assert await database.read(count) == 2002


@pytest.mark.skipif(not POSIX, reason="Windows doesn't let a file that is open be replaced")
async def test_another_file_in_its_place_is_not_written(tmp_path: Path) -> None:
    path, other = tmp_path / "pet.db", tmp_path / "other.db"
    await filled(path)
    await filled(other)
    async with database_at(path) as database:
        other.replace(path)
        before = path.read_bytes()
        with pytest.raises(sqlite3.OperationalError):
            await database.keep(insert)
        assert database.problem == "not_saved"
    assert path.read_bytes() == before


@unless_root
@pytest.mark.skipif(not POSIX, reason="Windows knows no read-only folders")
async def test_a_folder_that_turned_read_only_while_running_is_told_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "pet.db"
    database = await opened(path)
    await database.run(insert)
    try:
        protect(tmp_path)
        await database.close()
        async with database_at(path) as database:
            assert database.problem == "unwritable"
            assert await database.read(count) == 1
    finally:
        await database.close()
        unprotect(tmp_path)


@unless_root
@pytest.mark.skipif(not POSIX, reason="Windows knows no read-only folders")
async def test_a_folder_that_is_read_only_still_shows_what_was_stored(tmp_path: Path) -> None:
    path = tmp_path / "pet.db"
    await filled(path)
    protect(tmp_path)
    try:
        async with database_at(path, try_again_s=0) as database:
            assert database.problem == "unwritable"
            assert await database.read(count) == 2000
            with pytest.raises(sqlite3.OperationalError):
                await database.run(insert)
            unprotect(tmp_path)
            await database.keep(insert)
            assert database.problem is None
    finally:
        unprotect(tmp_path)


async def test_a_file_that_only_lies_to_sqlite_as_read_only_is_read(tmp_path: Path) -> None:
    """The same as above for whoever runs the tests as root: the file opens, and refuses every write."""
    from server.storage.file import connect_read_only

    path = tmp_path / "pet.db"
    await filled(path)
    with closing(connect_read_only(path)) as connection:
        assert count(connection) == 2000
        with pytest.raises(sqlite3.OperationalError):
            insert(connection)
