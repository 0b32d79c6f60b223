"""A conversation as a person has it, with a model that says what the test wants."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import OpenTab, Scripted
from tests.fakes.openai_server import Pause, Reply, Think

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

HOSTILE = (
    "<img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>"
    "[a](javascript:alert(4)) ![b](http://127.0.0.1:9/b.png) <iframe srcdoc='<script>alert(5)</script>'>"
)


async def test_markers_move_the_character_and_never_show(companion: Scripted, open_tab: OpenTab) -> None:
    companion.provider.script(
        Reply("Well [[mot", "ion:nod]]done! ", Pause(), "[[expression:smile]]It works", Pause(), ".")
    )
    tab = await open_tab(companion.url)
    stage = tab.hook("stage")
    await expect(stage).to_have_attribute("data-state", "idle")
    await tab.watch_stage()
    await tab.say("I fixed the bug")
    await companion.provider.paused()
    await expect(stage).to_have_attribute("data-state", "talking")
    companion.provider.release()
    await companion.provider.paused()
    await expect(stage).to_have_attribute("data-expression", "smile")
    companion.provider.release()
    await expect(tab.reply()).to_have_text("Well done! It works.")
    await expect(stage).to_have_attribute("data-state", "idle")
    await expect(stage).to_have_attribute("data-expression", "neutral")
    assert await tab.seen_on_stage("state") == ["thinking", "talking", "idle"]
    assert await tab.seen_on_stage("expression") == ["neutral", "smile", "neutral"]
    assert await tab.seen_on_stage("gesture") == ["none", "nod", "none"]


async def test_thinking_is_folded_apart_from_the_reply(companion: Scripted, open_tab: OpenTab) -> None:
    companion.provider.script(
        Reply(Think("They greet me."), "<think>So do I", " then.</think>", "Hello."),
        Reply("Half a thought</think>Never shown."),
    )
    tab = await open_tab(companion.url)
    await tab.say("Hi")
    message = tab.messages("assistant", "done")
    await expect(tab.reply()).to_have_text("Hello.")
    thoughts = message.locator(".thoughts").first
    await expect(thoughts.get_by_text("They greet me.")).to_be_hidden()
    await thoughts.locator("summary").click()
    await expect(thoughts.get_by_text("They greet me.So do I then.")).to_be_visible()

    await tab.say("And now?")
    await expect(message).to_have_count(2)
    await expect(tab.reply()).to_contain_text("Never shown.")
    await expect(tab.reply()).not_to_contain_text("think")


async def test_a_reply_streams_into_a_draft_and_can_be_stopped(
    companion: Scripted, open_tab: OpenTab
) -> None:
    companion.provider.script(Reply("Once ", "upon ", Pause(), "a time"))
    tab = await open_tab(companion.url)
    await tab.say("Tell me a story")
    await expect(tab.hook("draft").get_by_test_id("text")).to_have_text("Once upon")
    await expect(tab.messages("assistant")).to_have_count(0)
    await tab.page.keyboard.press("Escape")
    await expect(tab.messages("assistant", "interrupted")).to_have_count(1)
    await expect(tab.reply()).to_have_text("Once upon")
    await companion.provider.client_gone()
    await expect(tab.hook("line")).to_have_count(0)


async def test_a_new_message_replaces_the_reply_that_still_runs(
    companion: Scripted, open_tab: OpenTab
) -> None:
    companion.provider.script(Reply("The first ", Pause(), "answer"), Reply("The second answer."))
    tab = await open_tab(companion.url)
    await tab.say("One")
    await expect(tab.hook("draft")).to_contain_text("The first")
    await tab.say("Two")
    await expect(tab.reply()).to_have_text("The second answer.")
    await expect(tab.messages("assistant")).to_have_count(2)
    await expect(tab.messages("assistant").first).to_have_attribute("data-state", "interrupted")


async def test_a_reload_in_the_middle_of_a_reply_shows_it_to_its_end(
    companion: Scripted, open_tab: OpenTab
) -> None:
    companion.provider.script(Reply("Before, ", Pause(), "and after."))
    tab = await open_tab(companion.url)
    await tab.say("Go on")
    await expect(tab.hook("draft")).to_contain_text("Before,")
    await tab.page.reload()
    await expect(tab.hook("draft")).to_contain_text("Before,")
    companion.provider.release()
    await expect(tab.reply()).to_have_text("Before, and after.")
    await expect(tab.messages("user")).to_have_count(1)


async def test_two_tabs_stay_in_step(companion: Scripted, open_tab: OpenTab) -> None:
    companion.provider.script(Reply("Both ", Pause(), "see this."), Reply("Stop ", Pause(), "me."))
    one, other = await open_tab(companion.url), await open_tab(companion.url)
    await expect(other.hook("state-line")).to_have_attribute("data-state", "ready")
    await one.say("From the first tab")
    for tab in (one, other):
        await expect(tab.messages("user").get_by_test_id("text")).to_have_text("From the first tab")
        await expect(tab.hook("draft")).to_contain_text("Both")
    companion.provider.release()
    for tab in (one, other):
        await expect(tab.reply()).to_have_text("Both see this.")

    await other.say("From the second tab")
    await expect(one.hook("draft")).to_contain_text("Stop")
    await one.hook("stop").click()
    for tab in (one, other):
        await expect(tab.messages("assistant").last).to_have_attribute("data-state", "interrupted")
        await expect(tab.messages("user")).to_have_count(2)
        await expect(tab.messages("assistant")).to_have_count(2)


async def test_enter_that_ends_a_composition_does_not_send(companion: Scripted, open_tab: OpenTab) -> None:
    tab = await open_tab(companion.url, locale="zh-CN")
    box = tab.hook("composer")
    await box.focus()
    keyboard = await tab.page.context.new_cdp_session(tab.page)
    composing = {"selectionStart": 5, "selectionEnd": 5}
    await keyboard.send("Input.imeSetComposition", {"text": "ni'ha", **composing})
    await expect(box).to_have_value("ni'ha")
    taken_by_input_method = {"key": "Process", "code": "Enter", "windowsVirtualKeyCode": 229}
    for key in ({"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13}, taken_by_input_method):
        await keyboard.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **key})
        await keyboard.send("Input.dispatchKeyEvent", {"type": "keyUp", **key})
    await expect(box).to_have_value("ni'ha")
    await keyboard.send("Input.insertText", {"text": "你好"})
    await expect(box).to_have_value("你好")
    await expect(tab.messages("user")).to_have_count(0)
    await box.press("Shift+Enter")
    await box.press_sequentially("Tama")
    await expect(box).to_have_value("你好\nTama")
    await box.press("Enter")
    await expect(tab.messages("user").get_by_test_id("text")).to_have_text("你好\nTama")
    await expect(tab.messages("assistant", "done")).to_have_count(1)
    assert len(companion.provider.requests) == 1


async def test_nothing_that_a_model_writes_is_executed(companion: Scripted, open_tab: OpenTab) -> None:
    companion.provider.script(Reply(HOSTILE), Reply(Think(HOSTILE), "`" + HOSTILE + "`"))
    tab = await open_tab(companion.url)
    asked: list[str] = []
    tab.page.on("request", lambda request: asked.append(request.url))
    for text in (HOSTILE, "Once more"):
        await tab.say(text)
        await expect(tab.reply()).to_contain_text("onerror")
    await expect(tab.messages("assistant", "done")).to_have_count(2)
    await tab.page.reload()
    await expect(tab.messages("user").first.get_by_test_id("text")).to_have_text(HOSTILE)
    for tag in ("img[onerror]", "script:not([src])", "iframe", "svg[onload]", "a[href^=javascript]"):
        await expect(tab.page.locator(tag)).to_have_count(0)
    assert [url for url in asked if not url.startswith((companion.url, "data:"))] == []
