"""Edits by hand take effect while the program runs, however they are saved."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from server.config.files import write_atomically
from server.config.problems import Trouble
from server.config.schema import Config
from server.config.store import POLL_S, ConfigStore


class Listener:
    """A store that is watched, and everything that it tells."""

    def __init__(self, store: ConfigStore) -> None:
        self.store = store
        self.changes: asyncio.Queue[Config] = asyncio.Queue()
        self.troubles: asyncio.Queue[Trouble] = asyncio.Queue()
        store.subscribe(lambda _, new: self.changes.put_nowait(new))
        store.on_problem(self.troubles.put_nowait)

    async def change(self) -> Config:
        async with asyncio.timeout(10):
            return await self.changes.get()

    async def trouble(self) -> Trouble:
        async with asyncio.timeout(10):
            return await self.troubles.get()


@asynccontextmanager
async def watching(path: Path) -> AsyncIterator[Listener]:
    listener = Listener(ConfigStore(path, path.parent / "data"))
    task = asyncio.create_task(listener.store.watch(poll_s=0.02))
    try:
        yield listener
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def put(path: Path, raw: bytes, *, keep: bool = False) -> None:
    """Writes in place, as many editors do; ``keep`` leaves the old content in ``kept``."""
    if keep:
        path.with_name("kept").write_bytes(path.read_bytes())
    path.write_bytes(raw)


def remove(path: Path) -> None:
    path.unlink()


def write(path: Path, temperature: float) -> None:
    put(path, f"[chat]\ntemperature = {temperature}\n".encode())


def test_an_edit_counts_within_two_seconds() -> None:
    assert 3 * POLL_S <= 2


async def test_an_edit_in_place_takes_effect(config: Path) -> None:
    async with watching(config) as listener:
        write(config, 1.5)
        assert (await listener.change()).chat.temperature == 1.5
        assert listener.store.config.chat.temperature == 1.5


async def test_an_edit_before_the_watching_began_takes_effect(config: Path) -> None:
    listener = Listener(ConfigStore(config, config.parent / "data"))
    write(config, 1.5)
    task = asyncio.create_task(listener.store.watch())
    assert (await listener.change()).chat.temperature == 1.5
    task.cancel()


async def test_an_editor_that_replaces_the_file_is_noticed_again_and_again(config: Path) -> None:
    async with watching(config) as listener:
        for temperature in (0.1, 0.2, 0.3):
            fresh = config.with_name("fresh")
            write(fresh, temperature)
            fresh.replace(config)
            assert (await listener.change()).chat.temperature == temperature


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
async def test_an_edit_of_a_links_target_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    target, link = tmp_path / "dotfiles" / "lab.toml", tmp_path / "lab.toml"
    write(target, 0.1)
    link.symlink_to(target)
    async with watching(link) as listener:
        write_atomically(target, b"[chat]\ntemperature = 0.2\n")
        assert (await listener.change()).chat.temperature == 0.2


async def test_an_invalid_edit_is_told_once_and_the_last_good_one_stays(config: Path) -> None:
    async with watching(config) as listener:
        put(config, b"[chat]\ntemprature = 1\n")
        trouble = await listener.trouble()
        line = 'lab.toml:2: chat.temprature: unknown key; did you mean "temperature"?'
        assert line in trouble.message("en")
        assert "chat.temprature" in trouble.message("zh-CN")
        assert listener.store.config.chat.temperature == 0.7
        assert [problem.line for problem in listener.store.problems] == [2]
        await listener.store.reload()
        write(config, 1.5)
        await listener.change()
        assert listener.troubles.empty()
        assert listener.store.problems == ()


async def test_undoing_an_invalid_edit_makes_all_well_again(config: Path) -> None:
    listener = Listener(ConfigStore(config, config.parent / "data"))
    put(config, b"[chat\n", keep=True)
    await listener.store.reload()
    assert (await listener.trouble()).problems[0].line == 1
    config.with_name("kept").replace(config)
    await listener.store.reload()
    assert listener.store.problems == ()
    assert listener.changes.empty()
    put(config, b"[chat\n")
    await listener.store.reload()
    assert (await listener.trouble()).problems[0].line == 1


async def test_a_deleted_file_is_told_and_the_last_good_one_stays(config: Path) -> None:
    async with watching(config) as listener:
        remove(config)
        assert (await listener.trouble()).problems[0].kind == "no_file"
        assert listener.store.config.chat.temperature == 0.7
        write(config, 1.5)
        assert (await listener.change()).chat.temperature == 1.5


async def test_a_half_written_file_never_takes_effect(config: Path) -> None:
    """An emptied file would be valid, and would switch on all that its owner had switched off."""
    async with watching(config) as listener:
        whole = await asyncio.to_thread(config.read_bytes)
        deadline = asyncio.get_running_loop().time() + 0.5
        while asyncio.get_running_loop().time() < deadline:
            put(config, b"")
            await asyncio.sleep(0.005)
            put(config, whole)
            await asyncio.sleep(0.005)
        write(config, 1.5)
        assert (await listener.change()).chat.temperature == 1.5
        assert listener.troubles.empty()


async def test_the_stores_own_writes_are_told_once(config: Path) -> None:
    async with watching(config) as listener:
        await listener.store.update(listener.store.revision, {"chat.temperature": 1})
        assert (await listener.change()).chat.temperature == 1
        write(config, 1.5)
        assert (await listener.change()).chat.temperature == 1.5
        assert listener.changes.empty()


async def test_a_broken_file_that_is_good_again_is_told_once(config: Path) -> None:
    listener = Listener(ConfigStore(config, config.parent / "data"))
    mended: list[float] = []
    listener.store.on_mended(lambda: mended.append(listener.store.config.chat.temperature))
    put(config, b"[chat\n", keep=True)
    await listener.store.reload()
    assert mended == []
    config.with_name("kept").replace(config)
    await listener.store.reload()
    await listener.store.reload()
    assert mended == [0.7]
    put(config, b"[chat\n")
    await listener.store.reload()
    write(config, 1.5)
    await listener.store.reload()
    assert mended == [0.7, 1.5]
