"""What can be done with a message: copied, asked once more, edited; and code in it."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import OpenTab, Scripted
from tests.fakes.openai_server import Pause, Reply

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

WIDE = "| " + " | ".join(f"column {number}" for number in range(200)) + " |\n" + "|---" * 200 + "|\n"


async def test_code_is_coloured_copied_and_scrolls_in_its_bubble(
    companion: Scripted, open_tab: OpenTab
) -> None:
    companion.provider.script(
        Reply("Look:\n\n```python\ndef f(x):\n    ret", Pause(), 'urn "<b>"\n```\n\nThat is **a'),
        Reply(f"```\n{'x' * 100_000}\n```\n\n{WIDE}\n\n{'y' * 100_000}"),
    )
    tab = await open_tab(companion.url, permissions=["clipboard-read", "clipboard-write"])
    await tab.say("Code, please")
    draft = tab.hook("draft")
    await expect(draft.locator("pet-code .hljs-keyword").first).to_have_text("def")
    await expect(draft).not_to_contain_text("```")
    companion.provider.release()
    code = tab.messages("assistant", "done").locator("pet-code")
    await expect(code.locator(".hljs-string")).to_have_text('"<b>"')
    await code.get_by_test_id("code-copy").get_by_role("button").click()
    await expect(code.get_by_role("status")).to_have_text("Copied")
    assert await tab.page.evaluate("navigator.clipboard.readText()") == 'def f(x):\n    return "<b>"'

    await tab.say("Now something wide")
    await expect(tab.messages("assistant", "done")).to_have_count(2)
    for width in (320, 1280):
        await tab.page.set_viewport_size({"width": width, "height": 800})
        assert await tab.sticking_out() == []


async def test_a_reply_is_copied_asked_for_again_and_its_question_edited(
    companion: Scripted, open_tab: OpenTab
) -> None:
    companion.provider.script(Reply("The **first**."), Reply("The second."), Reply("The third."))
    tab = await open_tab(companion.url, permissions=["clipboard-read", "clipboard-write"])
    await tab.say("Tell me")
    reply = tab.messages("assistant", "done")
    await reply.get_by_test_id("copy").get_by_role("button").click()
    await expect(reply.get_by_test_id("copy").get_by_role("status")).to_have_text("Copied")
    assert await tab.page.evaluate("navigator.clipboard.readText()") == "The **first**."

    await tab.hook("regenerate").click()
    await expect(tab.reply()).to_have_text("The second.")
    await expect(tab.messages("user").get_by_test_id("text")).to_have_text(["Tell me", "Tell me"])
    await expect(tab.hook("regenerate")).to_have_count(1)

    await tab.hook("composer").press("ArrowUp")
    await expect(tab.hook("composer")).to_have_value("Tell me")
    await expect(tab.hook("composer")).to_be_focused()
    await tab.page.keyboard.type(" more")
    await tab.page.keyboard.press("Enter")
    await expect(tab.reply()).to_have_text("The third.")
    await expect(tab.messages("user").last.get_by_test_id("text")).to_have_text("Tell me more")
    await tab.hook("composer").fill("and also this")
    await tab.hook("edit").click()
    await expect(tab.hook("composer")).to_have_value("Tell me more\nand also this")
