"""The owner sees what tools do, and is asked before one looks at the screen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import OpenTab, scripted
from tests.fakes.openai_server import Pause, Reply
from tests.support.browser import Tab
from tests.support.x11 import x_display

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

SEES = "supports_vision = true"


def call(name: str, number: int = 1, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"call_{number}", "type": "function", "function": function}


LOOK = Reply(tool_calls=[call("vision__screen_shot")], finish="tool_calls")


@pytest.fixture(autouse=True)
def display(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A screen with something on it, for the companion to look at."""
    with x_display(640, 400) as shown, shown.painter() as painter:
        painter.fill(painter.window((0, 0, 640, 400)), 0x3366CC, [(40, 40, 200, 120)])
        monkeypatch.setenv("DISPLAY", shown.name)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        yield


async def ready(tab: Tab) -> Tab:
    await expect(tab.hook("state-line")).to_have_attribute("data-state", "ready")
    return tab


async def test_a_screenshot_is_asked_for_shown_and_kept_with_the_reply(
    tmp_path: Path, open_tab: OpenTab
) -> None:
    async with scripted(tmp_path, SEES, tools=True) as companion:
        tab = await ready(await open_tab(companion.url))
        companion.provider.script(LOOK, Reply("Seen."), Reply("A blue ", Pause(), "window."))
        await tab.say("What is on my screen?")
        question = tab.hook("consent")
        await expect(question).to_contain_text("take a screenshot")
        await expect(tab.hook("composer")).to_be_focused()
        await tab.hook("composer").type("I can go on writing")
        await expect(tab.hook("activity")).to_have_attribute("data-live", "true")
        await expect(tab.hook("activity-summary")).to_contain_text("screenshot")

        await tab.hook("composer").press("Shift+Tab")
        await tab.hook("consent-once").press("Enter")
        await expect(question).to_have_count(0)
        await expect(tab.hook("composer")).to_be_focused()
        await expect(tab.hook("composer")).to_have_value("I can go on writing")
        await expect(tab.hook("screenshot")).to_contain_text("A screenshot was taken")
        await companion.provider.paused()
        companion.provider.release()
        await expect(tab.reply()).to_have_text("A blue window.")

        message = tab.messages("assistant").last
        await expect(message.get_by_test_id("activity-summary")).to_contain_text("1 tool")
        await message.get_by_test_id("activity-summary").click()
        shot = message.get_by_test_id("tool-call")
        await expect(shot).to_have_attribute("data-outcome", "ok")
        await expect(shot).to_contain_text("vision__screen_shot")
        await message.get_by_test_id("screenshot").click()
        await expect(tab.hook("enlarged")).to_be_visible()
        await tab.page.keyboard.press("Escape")
        await expect(tab.hook("enlarged")).to_have_count(0)


async def test_an_answer_in_one_window_ends_the_question_in_the_other(
    tmp_path: Path, open_tab: OpenTab
) -> None:
    async with scripted(tmp_path, SEES, tools=True) as companion:
        one = await ready(await open_tab(companion.url))
        other = await ready(await open_tab(companion.url, locale="zh-CN"))
        companion.provider.script(LOOK, Reply("No."), Reply("Then tell me."))
        await one.say("What is on my screen?")
        await expect(one.hook("consent")).to_be_visible()
        await expect(other.hook("consent")).to_contain_text("截取你的屏幕")
        await other.hook("consent-never").click()
        await expect(one.hook("consent")).to_have_count(0)
        await expect(one.reply()).to_have_text("Then tell me.")
        await one.hook("activity-summary").click()
        await expect(one.hook("tool-call")).to_have_attribute("data-outcome", "denied")
        await expect(one.hook("screenshot")).to_have_count(0)


async def test_a_question_goes_with_its_turn(tmp_path: Path, open_tab: OpenTab) -> None:
    async with scripted(tmp_path, SEES, tools=True) as companion:
        tab = await ready(await open_tab(companion.url))
        companion.provider.script(LOOK)
        await tab.say("What is on my screen?")
        await expect(tab.hook("consent")).to_be_visible()
        await tab.page.keyboard.press("Escape")
        await expect(tab.hook("consent")).to_have_count(0)
        await tab.hook("activity-summary").click()
        await expect(tab.hook("tool-call")).to_have_attribute("data-outcome", "cancelled")
