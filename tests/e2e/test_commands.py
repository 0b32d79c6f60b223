"""What is typed for the page itself: it answers without a word to the model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import API_KEY, OpenTab, Scripted, scripted

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

RIGHT_KEY = "sk-right-9876543210zyxwvutsrqponm"


async def test_help_and_status_are_shown_and_nothing_is_sent(companion: Scripted, open_tab: OpenTab) -> None:
    tab = await open_tab(companion.url, permissions=["clipboard-read", "clipboard-write"])
    await expect(tab.hook("state-line")).to_have_attribute("data-state", "ready")
    await tab.say("/help")
    await expect(tab.hook("help-panel")).to_contain_text("/status")
    await tab.page.keyboard.press("Escape")
    await expect(tab.hook("help-panel")).to_have_count(0)
    await expect(tab.hook("composer")).to_be_focused()

    await tab.say("/status")
    panel = tab.hook("status-panel")
    await expect(panel.locator('[data-role="chat"]')).to_contain_text("scripted-chat")
    await tab.hook("status-copy").click()
    await expect(tab.hook("status-copy")).to_have_text("Copied")
    report = await tab.page.evaluate("navigator.clipboard.readText()")
    assert "scripted-chat" in report
    assert API_KEY not in report
    assert str(companion.pet.folder) not in report
    assert companion.provider.requests == []
    await expect(tab.messages("user")).to_have_count(0)


async def test_a_command_that_does_not_exist_says_so_and_a_path_is_a_message(
    companion: Scripted, open_tab: OpenTab
) -> None:
    tab = await open_tab(companion.url, locale="zh-CN")
    await expect(tab.hook("state-line")).to_have_attribute("data-state", "ready")
    await tab.say("/etc 是什么目录？")
    await expect(tab.hook("unknown-command")).to_contain_text("没有 /etc 这个命令")
    await expect(tab.messages("user")).to_have_count(0)
    await tab.hook("send-anyway").click()
    await expect(tab.messages("user").get_by_test_id("text")).to_have_text("/etc 是什么目录？")
    await expect(tab.messages("assistant", "done")).to_have_count(1)

    await tab.say("/usr/bin/env 是做什么的？")
    await expect(tab.messages("user")).to_have_count(2)
    await expect(tab.messages("assistant", "done")).to_have_count(2)


async def test_a_wrong_key_is_replaced_in_the_page(tmp_path: Path, open_tab: OpenTab) -> None:
    async with scripted(tmp_path, api_key=RIGHT_KEY) as companion:
        tab = await open_tab(companion.url)
        await tab.say("Hello?")
        await expect(tab.failure()).to_contain_text("/connect")
        await tab.say("/connect")
        await tab.hook("guide-cloud").check()
        await tab.hook("guide-provider").select_option("scripted")
        await tab.hook("key").fill(RIGHT_KEY)
        await tab.hook("key").press("Enter")
        await expect(tab.hook("guide-result")).to_contain_text("Reached")
        await expect(tab.hook("key")).to_have_value("")
        await tab.hook("guide-close").click()
        await tab.say("And now?")
        await expect(tab.messages("assistant", "done")).to_have_count(1)

        shown = [frame for frame in tab.frames if RIGHT_KEY in str(frame)]
        assert shown == []
        config = (tmp_path / "lab.toml").read_text(encoding="utf-8")
        assert RIGHT_KEY not in config
        assert re.search(r'api_key = "stored"', config)


async def test_another_model_is_chosen_for_a_role(tmp_path: Path, open_tab: OpenTab) -> None:
    async with scripted(tmp_path, models=["scripted-chat", "scripted-small"]) as companion:
        tab = await open_tab(companion.url)
        await expect(tab.hook("state-line")).to_have_attribute("data-state", "ready")
        await tab.say("/model")
        await tab.hook("guide-provider").select_option("scripted")
        await tab.hook("model-role").select_option("tool")
        await tab.hook("model-select").select_option("scripted-small")
        await tab.hook("model-use").click()
        await expect(tab.hook("model-picker")).to_contain_text("written to lab.toml")
        await tab.hook("guide-close").click()
        await tab.hook("status-open").click()
        await expect(tab.page.locator('[data-testid="status-role"][data-role="tool"]')).to_contain_text(
            "scripted-small"
        )
