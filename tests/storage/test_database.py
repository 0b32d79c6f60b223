"""The database against files that can't be used."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from pathlib import Path

import pytest

from server.storage.database import Database
from server.storage.migrations import MIGRATIONS


def count(connection: sqlite3.Connection) -> int:
    value: int = connection.execute("SELECT count(*) FROM usage").fetchone()[0]
    return value


def insert(connection: sqlite3.Connection, day: str = "2026-01-01") -> None:
    connection.execute("INSERT INTO usage VALUES (?, 'chat', 1, 1)", (day,))


async def opened(path: Path) -> Database:
    database = Database(path)
    await database.open()
    return database


async def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    database = await opened(tmp_path / "pet.db")
    await database.run(insert)
    await database.close()
    again = await opened(tmp_path / "pet.db")
    assert again.problem is None
    assert await again.run(count) == 1
    await again.close()


async def test_a_failed_operation_leaves_nothing_behind(tmp_path: Path) -> None:
    database = await opened(tmp_path / "pet.db")

    def half(connection: sqlite3.Connection) -> None:
        insert(connection)
        connection.execute("INSERT INTO nowhere VALUES (1)")

    with pytest.raises(sqlite3.Error):
        await database.run(half)
    assert await database.run(count) == 0
    await database.close()


async def test_an_operation_finishes_although_its_caller_was_cancelled(tmp_path: Path) -> None:
    database = await opened(tmp_path / "pet.db")

    async def write() -> None:
        await database.run(insert)

    task = asyncio.create_task(write())
    await asyncio.sleep(0)
    task.cancel()
    assert await database.run(count) == 1
    await database.close()


async def test_a_history_file_that_cannot_be_read_is_set_aside_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "pet.db"
    path.write_bytes(b"this is no database, but somebody's" * 100)
    database = await opened(path)
    assert database.problem == "set_aside"
    await database.run(insert)
    await database.close()
    (aside,) = [path for path in map(Path, os.scandir(tmp_path)) if "unreadable" in path.name]
    assert aside.read_bytes().startswith(b"this is no database")


async def test_a_file_from_a_newer_version_stays_untouched(tmp_path: Path) -> None:
    path = tmp_path / "pet.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    before = path.read_bytes()
    database = await opened(path)
    assert database.problem == "newer"
    await database.run(insert)
    await database.close()
    assert path.read_bytes() == before


async def test_a_folder_that_cannot_be_written_still_gives_a_database_for_this_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    database = await opened(tmp_path / "file" / "pet.db")
    assert database.problem == "unwritable"
    await database.run(insert)
    assert await database.run(count) == 1
    await database.close()
