"""The server dies and comes back while a page is open."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import OpenTab, write_config
from tests.fakes.openai_server import Pause, Reply, ScriptedProvider
from tests.support.browser import Tab
from tests.support.process import PetProcess, serving

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

WITHOUT_SERVER = "WebSocket connection to|ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET"


async def kill(pet: PetProcess) -> None:
    pet.process.kill()
    await pet.process.wait()


@asynccontextmanager
async def restarted(folder: Path, port: int, tab: Tab) -> AsyncIterator[PetProcess]:
    async with serving(folder, "--port", str(port)) as pet:
        await expect(tab.hook("state-line")).to_have_attribute("data-state", "ready")
        yield pet
        tab.forgive(WITHOUT_SERVER)


async def test_a_message_written_meanwhile_is_sent_once_and_the_draft_stays(
    tmp_path: Path, open_tab: OpenTab
) -> None:
    async with ScriptedProvider() as provider:
        write_config(tmp_path, provider)
        async with serving(tmp_path) as pet:
            tab = await open_tab(pet.url)
            await tab.say("Before")
            await expect(tab.messages("assistant", "done")).to_have_count(1)
            await kill(pet)
            await expect(tab.hook("connection-bar")).to_be_visible()
            await expect(tab.hook("connection-bar")).to_contain_text("What you write is kept")
        await tab.say("While you were away")
        await expect(tab.messages("user", "waiting")).to_have_count(1)
        await tab.hook("composer").fill("Half a sentence")

        async with restarted(tmp_path, pet.port, tab):
            await expect(tab.messages("assistant", "done")).to_have_count(2)
            await expect(tab.messages("user", "done").get_by_test_id("text")).to_have_text(
                ["Before", "While you were away"]
            )
            await expect(tab.hook("connection-bar")).to_have_count(0)
            await expect(tab.hook("composer")).to_have_value("Half a sentence")
            await tab.page.reload()
            await expect(tab.messages("user")).to_have_count(2)
            await expect(tab.messages("assistant", "done")).to_have_count(2)
            await expect(tab.hook("composer")).to_have_value("Half a sentence")
            assert len(provider.requests) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows can't hold a process still")
async def test_a_message_that_a_dying_server_never_read_is_sent_once_to_the_next(
    tmp_path: Path, open_tab: OpenTab
) -> None:
    async with ScriptedProvider() as provider:
        write_config(tmp_path, provider)
        async with serving(tmp_path) as pet:
            tab = await open_tab(pet.url)
            await expect(tab.hook("state-line")).to_have_attribute("data-state", "ready")
            pet.process.send_signal(signal.SIGSTOP)
            await tab.say("Did you get that?")
            await expect(tab.messages("user", "waiting")).to_have_count(1)
            await kill(pet)
        async with restarted(tmp_path, pet.port, tab):
            await expect(tab.messages("assistant", "done")).to_have_count(1)
            await expect(tab.messages("user")).to_have_count(1)
            assert len(provider.requests) == 1


async def test_a_reply_cut_off_by_a_dying_server_stays_and_is_not_asked_for_again(
    tmp_path: Path, open_tab: OpenTab
) -> None:
    async with ScriptedProvider() as provider:
        write_config(tmp_path, provider)
        provider.script(Reply("So far ", Pause(), "and no further."))
        async with serving(tmp_path) as pet:
            tab = await open_tab(pet.url)
            await tab.say("Tell me")
            await expect(tab.hook("draft")).to_contain_text("So far")
            await kill(pet)
            await expect(tab.hook("stage")).to_have_attribute("data-state", "idle")
        async with restarted(tmp_path, pet.port, tab):
            await expect(tab.messages("assistant", "interrupted")).to_have_count(1)
            await expect(tab.reply()).to_have_text("So far")
            await expect(tab.hook("draft")).to_have_count(0)
            await expect(tab.messages("user")).to_have_count(1)
            assert len(provider.requests) == 1
