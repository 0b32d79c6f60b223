"""The page's main states under axe-core, in both themes and languages; what theme and palette do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import OpenTab, Scripted
from tests.fakes.openai_server import Pause, Reply, Status, Think
from tests.support.browser import Tab

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
CONVERSATION = """## Steps

1. **First** `code`
2. [second](https://example.org)

```python
@cache
def f(x: int = 1) -> str:
    # says hello
    return f"hello {x}"
```

| a | b |
|---|---|
| 1 | 2 |

> A quote.
"""


async def no_violation(tab: Tab, state: str, **rules: Any) -> None:
    # By the debugger: the page's own policy allows no script from elsewhere.
    await tab.page.evaluate(AXE.read_text(encoding="utf-8") + "; undefined")
    found = await tab.page.evaluate(
        "async (rules) => (await axe.run(document, { rules })).violations.map("
        "({ id, nodes }) => [id, ...nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)])",
        {name: {"enabled": enabled} for name, enabled in rules.items()},
    )
    assert found == [], f"{state}: {json.dumps(found, indent=1, ensure_ascii=False)}"


@pytest.mark.parametrize(("scheme", "locale"), [("light", "en-US"), ("dark", "zh-CN")])
async def test_axe_finds_no_violation_in_the_main_states(
    companion: Scripted, open_tab: OpenTab, scheme: str, locale: str
) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: run npm ci in frontend/")
    companion.provider.script(
        Reply(Think("Hm."), CONVERSATION), Status(401), Reply("Half **a", Pause(), " reply**.")
    )
    # Motion is off, so that no colour is caught on its way to another.
    tab = await open_tab(companion.url, locale=locale, color_scheme=scheme, reduced_motion="reduce")
    await expect(tab.hook("state-line")).to_have_attribute("data-state", "ready")
    await no_violation(tab, "empty")
    await tab.say("Show me")
    await expect(tab.messages("assistant", "done").locator(".hljs-keyword").first).to_be_visible()
    await tab.messages("assistant").locator(".thoughts summary").click()
    await tab.hook("cost").locator("summary").click()
    await no_violation(tab, "conversation")
    await tab.say("Oops")
    await expect(tab.failure()).to_be_visible()
    await no_violation(tab, "failure")
    await tab.say("/help")
    await expect(tab.hook("help-panel")).to_be_visible()
    await no_violation(tab, "help")
    await tab.page.keyboard.press("Escape")
    await tab.say("/status")
    await expect(tab.hook("status-panel").locator('[data-role="chat"]')).to_be_visible()
    await no_violation(tab, "status")
    await tab.page.keyboard.press("Escape")
    await tab.say("/connect")
    await expect(tab.hook("guide")).to_be_visible()
    await no_violation(tab, "guide")
    await tab.hook("guide-close").click()
    await tab.hook("composer").press_sequentially("/")
    await expect(tab.hook("palette")).to_be_visible()
    # The box is a combobox as long as there is something to choose; HTML knows none of several lines.
    await no_violation(tab, "palette", **{"aria-allowed-role": False})
    await tab.hook("composer").fill("/stauts")
    await tab.hook("composer").press("Enter")
    await expect(tab.hook("unknown-command")).to_be_visible()
    await no_violation(tab, "unknown command")
    await tab.say("Go on")
    await expect(tab.hook("draft")).to_contain_text("Half a")
    await no_violation(tab, "streaming")
    companion.provider.release()
    await expect(tab.messages("assistant", "done")).to_have_count(2)


async def test_the_palette_is_driven_by_keyboard_and_mouse(companion: Scripted, open_tab: OpenTab) -> None:
    tab = await open_tab(companion.url)
    box, options = tab.hook("composer"), tab.hook("palette-option")
    await expect(tab.hook("state-line")).to_have_attribute("data-state", "ready")
    await box.press_sequentially("/")
    await expect(box).to_have_attribute("aria-expanded", "true")
    await expect(box).to_have_attribute("aria-activedescendant", "command-help")
    await box.press("ArrowDown")
    await expect(tab.page.get_by_role("option", selected=True)).to_contain_text("/status")
    await box.press("Escape")
    await expect(options).to_have_count(0)
    await expect(box).to_have_value("/")
    await box.press_sequentially("st")
    await box.press("Tab")
    await expect(box).to_have_value("/status")
    await box.press("Enter")
    await expect(tab.hook("status-panel")).to_be_visible()
    await tab.page.keyboard.press("Escape")
    await expect(box).to_be_focused()
    await expect(box).to_have_value("")
    await box.press_sequentially("/")
    await options.filter(has_text="/help").click()
    await expect(tab.hook("help-panel")).to_be_visible()
    await tab.page.keyboard.press("Escape")
    await tab.say("/stauts")
    await tab.hook("nearest").click()
    await expect(tab.hook("status-panel")).to_be_visible()
    assert companion.provider.requests == []


async def test_the_theme_follows_the_system_until_it_is_chosen(
    companion: Scripted, open_tab: OpenTab
) -> None:
    tab = await open_tab(companion.url, color_scheme="dark")
    background = "getComputedStyle(document.documentElement).backgroundColor"
    dark = await tab.page.evaluate(background)
    await tab.page.emulate_media(color_scheme="light")
    light = await tab.page.evaluate(background)
    assert dark != light
    await tab.say("/theme")
    await expect(tab.hook("theme-toggle")).to_have_attribute("data-theme", "light")
    await tab.hook("theme-toggle").click()
    await expect(tab.hook("theme-toggle")).to_have_attribute("data-theme", "dark")
    assert await tab.page.evaluate(background) == dark
    await tab.page.reload()
    await expect(tab.hook("theme-toggle")).to_have_attribute("data-theme", "dark")
    assert await tab.page.evaluate(background) == dark


async def test_a_hidden_page_counts_what_comes_in(companion: Scripted, open_tab: OpenTab) -> None:
    companion.provider.script(Reply("On", Pause(), "e."))
    tab = await open_tab(companion.url)
    await tab.say("Take your time")
    await expect(tab.hook("draft")).to_contain_text("On")
    hide = (
        "(hidden) => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });"
        " document.dispatchEvent(new Event('visibilitychange')); }"
    )
    await tab.page.evaluate(hide, True)
    companion.provider.release()
    await expect(tab.page).to_have_title("(1) Tama")
    await tab.page.evaluate(hide, False)
    await expect(tab.page).to_have_title("Tama")
