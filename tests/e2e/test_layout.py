"""The page on a small phone, a notebook and a large screen, in each state; pytest keeps the screenshots."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import expect

from server.app import App, Listening
from tests.e2e.conftest import OpenTab, Scripted
from tests.fakes.openai_server import Pause, Reply, ScriptedProvider, Status, Think
from tests.support.browser import Tab
from tests.support.companion import lab_toml, location

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

SIZES = ((320, 640), (1280, 800), (2560, 1440))
EVERYTHING = f"""## A heading, and **bold** words

{"Donaudampfschifffahrtsgesellschaft" * 8}

```python
{"a_very_long_name = another_very_long_name(" * 6}
```

| one | two | three | four | five | six |
|---|---|---|---|---|---|
| {" | ".join(["a cell with some words in it"] * 6)} |

- {"一个很长的中文句子，没有任何空格，" * 12}
- <https://example.org/{"path/" * 40}>
"""


async def fits(tab: Tab, state: str, folder: Path) -> None:
    """At every size nothing sticks out, and there is a picture of it."""
    for width, height in SIZES:
        await tab.page.set_viewport_size({"width": width, "height": height})
        await tab.page.screenshot(path=folder / f"{state}-{width}.png", animations="disabled")
        assert await tab.sticking_out() == [], f"{state} at {width}"


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
async def test_a_conversation_fits_any_window(
    companion: Scripted, open_tab: OpenTab, locale: str, tmp_path: Path
) -> None:
    provider = companion.provider
    tab = await open_tab(companion.url, locale=locale, color_scheme="dark" if locale == "zh-CN" else "light")
    await expect(tab.hook("state-line")).to_have_attribute("data-state", "ready")
    await fits(tab, "empty", tmp_path)
    provider.script(
        Reply(Think("W" * 300), EVERYTHING), Status(401), Reply("[[expression:smile]]So ", Pause())
    )
    await tab.say("x" * 400)
    await expect(tab.messages("assistant", "done")).to_have_count(1)
    await tab.messages("assistant").locator(".thoughts summary").click()
    await fits(tab, "conversation", tmp_path)
    await tab.say("Oops")
    await expect(tab.hook("line")).to_have_count(1)
    await fits(tab, "failure", tmp_path)
    await tab.say("Once more")
    await expect(tab.hook("draft")).to_contain_text("So")
    await fits(tab, "streaming", tmp_path)
    await companion.pet.stop()
    await expect(tab.hook("connection-bar")).to_be_visible()
    await fits(tab, "offline", tmp_path)
    tab.forgive("WebSocket connection to|ERR_CONNECTION_REFUSED")


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
async def test_guides_and_the_door_fit_any_window(open_tab: OpenTab, locale: str, tmp_path: Path) -> None:
    model = "a-model-with-a-very-long-name-" * 5
    async with ScriptedProvider(models=[model]) as provider:
        provider.route("GET", "/api/ps", {"models": []})
        provider.route("POST", "/api/show", {"capabilities": ["completion"]})
        here = location(tmp_path, lab_toml(provider.base_url, model="gone"))
        async with App(here, Listening("127.0.0.1", 0)) as app:
            tab = await open_tab(app.url, locale=locale)
            await expect(tab.hook("model-select")).to_be_visible()
            await fits(tab, "model-selection", tmp_path)
            await tab.hook("guide").locator("details summary").click()
            for kind in ("ollama", "lmstudio", "builtin", "cloud"):
                await tab.hook(f"guide-{kind}").check(force=True)
                await fits(tab, f"guide-{kind}", tmp_path)
            await tab.page.context.close()
        locked = lab_toml(provider.base_url, extra="[server]\nrequire_token = true")
        async with App(location(tmp_path, locked), Listening("127.0.0.1", 0)) as app:
            tab = await open_tab(app.url, locale=locale)
            await expect(tab.hook("door")).to_be_visible()
            await fits(tab, "door", tmp_path)
            tab.forgive("status of 403|WebSocket connection to")
            await tab.page.context.close()
