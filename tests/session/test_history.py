"""The chat when the disk doesn't do what it should."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.session.history import History, Message, new_id, now
from server.storage.database import Database
from tests.fakes.openai_server import ScriptedProvider
from tests.support.companion import Companion, Talker, companion, lab_toml


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(tmp_path / "pet.db", wait_s=0, try_again_s=0)
    await database.open()
    yield database
    await database.close()


def message(text: str, turn: int = 1) -> Message:
    return Message(id=new_id(), turn=turn, role="user", text=text * 30000, at=now())


async def fill_disk(database: Database) -> None:
    """No page more may be written: SQLite says the same as on a disk that is full."""
    await database.run(lambda disk: disk.execute("PRAGMA max_page_count = 1").fetchone())


async def free_disk(database: Database) -> None:
    await database.read(lambda disk: disk.execute("PRAGMA max_page_count = 1000000").fetchone())


async def stored(database: Database, session: str = "s") -> list[Message]:
    history = History(database, session)
    await history.load()
    return history.recent()


async def test_what_was_said_while_the_disk_was_full_is_stored_in_order_with_the_next_message(
    database: Database,
) -> None:
    history = History(database, "s")
    first, second, third = (message(text) for text in "abc")
    await history.add(first)
    await fill_disk(database)
    await history.add(second)
    await history.update(second, text="c" * 30000, state="interrupted")
    assert await stored(database) == [first]
    await free_disk(database)
    await history.add(third)
    assert await stored(database) == history.recent()
    assert [one.text for one in history.recent()] == [first.text, "c" * 30000, third.text]


async def test_a_chat_that_was_cleared_while_the_disk_was_full_does_not_come_back(database: Database) -> None:
    history = History(database, "s")
    await history.add(message("a"))
    with sqlite3.connect(database.path) as other:
        other.execute("BEGIN IMMEDIATE")
        await history.clear()
        await history.add(message("b"))
        other.rollback()
    other.close()
    assert await history.save()
    assert [one.text[0] for one in await stored(database)] == ["b"]


async def test_a_file_that_is_damaged_while_running_loses_nothing_that_is_still_in_memory(
    database: Database, tmp_path: Path
) -> None:
    history = History(database, "s", shared=True)
    for text in "abcd":
        await history.add(message(text))
    await database.run(lambda disk: disk.execute("SELECT 1"))
    await database.read(lambda disk: disk.execute("PRAGMA shrink_memory"))
    for path in (tmp_path / "pet.db", tmp_path / "pet.db-wal"):
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(os.urandom(max(0, path.stat().st_size - 4096)))
    for text in "efgh":
        await history.add(message(text))
    assert await history.save()
    assert await stored(database) == history.recent()
    row = await database.read(
        lambda disk: disk.execute("SELECT id FROM sessions WHERE shared = 1").fetchone()
    )
    assert row == ("s",)


def storage_notices(talker: Talker) -> list[str]:
    codes = [frame["code"] for frame in talker.frames if frame["type"] == "notice"]
    return [code for code in codes if code.startswith(("history_", "saved_"))]


async def full(pet: Companion) -> Database:
    found = pet.app._database
    await fill_disk(found)
    return found


async def test_a_full_disk_is_told_once_and_so_is_its_end(tmp_path: Path) -> None:
    async with ScriptedProvider() as provider, companion(tmp_path, lab_toml(provider.base_url)) as pet:
        talker = await pet.talker()
        disk = await full(pet)
        for text in "xyz":
            await talker.send("send", text=text * 7000)
            await talker.until("turn.done")
        assert storage_notices(talker) == ["history_not_saved"]
        late = await pet.talker()
        assert (await late.until("notice"))["code"] == "history_not_saved"
        await free_disk(disk)
        await talker.send("send", text="again")
        await talker.until("turn.done")
        assert storage_notices(talker) == ["history_not_saved", "saved_again"]
    async with ScriptedProvider() as provider, companion(tmp_path, lab_toml(provider.base_url)) as pet:
        talker = await pet.talker()
        chat = await talker.ask("chat.history")
        said = [m["text"][0] for m in chat["messages"] if m["role"] == "user"]
        assert said == ["x", "y", "z", "a"]


async def test_a_file_that_is_damaged_never_stops_a_start_and_is_told(tmp_path: Path) -> None:
    async with ScriptedProvider() as provider:
        config = lab_toml(provider.base_url)
        async with companion(tmp_path, config) as pet:
            await (await pet.talker()).ask("status")
        path = tmp_path / "data" / "pet.db"
        path.write_bytes(path.read_bytes()[:4096] + bytes(path.stat().st_size - 4096))
        async with companion(tmp_path, config) as pet:
            talker = await pet.talker()
            assert (await talker.until("notice"))["code"] == "history_set_aside"
            await talker.send("send", text="Hi")
            await talker.until("turn.done")
        async with companion(tmp_path, config) as pet:
            chat = await (await pet.talker()).ask("chat.history")
            assert chat["messages"][0]["text"] == "Hi"
