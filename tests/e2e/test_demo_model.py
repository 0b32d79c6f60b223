"""The first minutes of a newcomer: nothing connected, and the real demonstration model answers."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.conftest import OpenTab
from tests.support.process import PetProcess, serving

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

# A model server on this machine would answer instead; temperature 0 so that each run is like the last.
NOTHING_ELSE = """
[chat]
temperature = 0
[llm.providers.ollama]
base_url = "http://127.0.0.1:9/v1"
[llm.providers.lmstudio]
base_url = "http://127.0.0.1:9/v1"
"""
SOMETHING = re.compile(r"\w")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pet(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PetProcess]:
    folder: Path = tmp_path_factory.mktemp("demo")
    (folder / "lab.toml").write_text(NOTHING_ELSE, encoding="utf-8")
    async with serving(folder) as running:
        yield running


async def test_hi_gives_a_streamed_reply_with_talk_that_survives_a_reload(
    pet: PetProcess, open_tab: OpenTab
) -> None:
    tab = await open_tab(pet.url)
    await expect(tab.hook("state-line")).to_have_attribute("data-state", "demo")
    await tab.watch_stage()
    await tab.say("Hi")
    await expect(tab.messages("assistant", "done")).to_have_count(1, timeout=60_000)
    await expect(tab.hook("stage")).to_have_attribute("data-talking", "false")
    assert await tab.seen_on_stage("talking") == ["false", "true", "false"]
    assert len([frame for frame in tab.frames if frame["type"] == "delta"]) > 1
    said = await tab.reply().inner_text()
    assert said.strip()

    await tab.page.reload()
    await expect(tab.messages("user").get_by_test_id("text")).to_have_text("Hi")
    await expect(tab.reply()).to_have_text(said, use_inner_text=True)


async def test_a_long_reply_can_be_stopped_in_the_middle(pet: PetProcess, open_tab: OpenTab) -> None:
    tab = await open_tab(pet.url)
    await tab.say("Write a very long story about a cat, with all the details that you can think of.")
    await expect(tab.hook("draft").get_by_test_id("text")).to_have_text(SOMETHING)
    await tab.hook("stop").click()
    await expect(tab.messages("assistant").last).to_have_attribute("data-state", "interrupted")
    await expect(tab.hook("draft")).to_have_count(0)
    await expect(tab.hook("stop")).to_have_count(0)
    shown = await tab.reply().inner_text()
    assert shown.strip()

    await tab.page.reload()
    await expect(tab.messages("assistant").last).to_have_attribute("data-state", "interrupted")
    await expect(tab.reply()).to_have_text(shown, use_inner_text=True)
    await tab.say("Hi again")
    await expect(tab.messages("assistant").last).to_have_attribute("data-state", "done", timeout=60_000)


async def test_the_demo_banner_folds_for_the_tab_but_never_goes_away(
    pet: PetProcess, open_tab: OpenTab, tmp_path: Path
) -> None:
    tab = await open_tab(pet.url)
    banner = tab.hook("demo-banner")
    await expect(banner).to_contain_text("only a demonstration")
    for width in (320, 1280, 2560):
        await tab.page.set_viewport_size({"width": width, "height": 720})
        await tab.page.screenshot(path=tmp_path / f"demo-{width}.png")
        assert await tab.sticking_out() == []
    await tab.hook("demo-fold").click()
    await expect(banner).to_contain_text("Demo model")
    await tab.page.reload()
    await expect(banner).to_contain_text("Demo model")
    await tab.hook("demo-connect").click()
    await expect(tab.hook("guide")).to_be_visible()
    await expect(banner).to_be_visible()
    await tab.hook("guide-close").click()
    await expect(banner).to_be_visible()

    another = await open_tab(pet.url, locale="zh-CN")
    await expect(another.hook("demo-banner")).to_contain_text("现在只是演示")
