"""Who comes in: the link with its one-time code, a pasted token, and never a foreign page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from server.app import App, Listening
from tests.e2e.conftest import OpenTab, Scripted
from tests.fakes.openai_server import ScriptedProvider, Status
from tests.support.companion import lab_toml, location

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

REFUSED = "status of 403|WebSocket connection to"


@pytest_asyncio.fixture(loop_scope="session")
async def locked(tmp_path: Path) -> AsyncIterator[App]:
    async with ScriptedProvider() as provider:
        config = lab_toml(provider.base_url, extra="[server]\nrequire_token = true")
        async with App(location(tmp_path, config), Listening("127.0.0.1", 0)) as app:
            yield app


async def test_the_link_opens_once_and_its_code_leaves_the_address_bar(
    locked: App, open_tab: OpenTab
) -> None:
    link = locked.page_url()
    assert "#code=" in link
    tab = await open_tab(link)
    await expect(tab.hook("state-line")).to_have_attribute("data-state", "ready")
    assert tab.page.url == f"{locked.url}/"
    assert await tab.page.evaluate("history.length") <= 2
    await tab.page.reload()
    await expect(tab.hook("state-line")).to_have_attribute("data-state", "ready")
    await tab.say("Hi")
    await expect(tab.reply()).to_have_text("Hello there.")

    other = await open_tab(link, locale="zh-CN")
    await expect(other.hook("door")).to_contain_text("这个链接已经用过")
    await expect(other.hook("door")).to_contain_text("pet token")
    await expect(other.hook("composer")).to_have_count(0)
    assert other.page.url == f"{locked.url}/"
    other.forgive(REFUSED)
    await tab.page.context.close()
    await other.page.context.close()


async def test_a_pasted_token_opens_the_door_and_a_wrong_one_is_told(
    locked: App, open_tab: OpenTab, tmp_path: Path
) -> None:
    tab = await open_tab(locked.url)
    await expect(tab.hook("door")).to_contain_text("protected by a token")
    for wrong, told in (("not a token", "doesn't look like a token"), ("x" * 43, "did not accept")):
        await tab.hook("token").fill(wrong)
        await tab.hook("token").press("Enter")
        await expect(tab.hook("door")).to_contain_text(told)
    token = (tmp_path / "data" / "token").read_text(encoding="ascii")
    await tab.hook("token").fill(f" {token.strip()} ")
    await tab.hook("token").press("Enter")
    await expect(tab.hook("state-line")).to_have_attribute("data-state", "ready")
    await tab.say("Hi")
    await expect(tab.reply()).to_have_text("Hello there.")
    tab.forgive(REFUSED)
    await tab.page.context.close()


async def test_a_foreign_page_can_neither_connect_nor_read_nor_frame(
    companion: Scripted, open_tab: OpenTab
) -> None:
    async with ScriptedProvider() as elsewhere:
        page = Status(200, "<title>Elsewhere</title>", headers={"Content-Type": "text/html"})
        elsewhere.route("GET", "/", page)
        elsewhere.route("GET", "/favicon.ico", Status(204, ""))
        tab = await open_tab(elsewhere.root_url)
        address = companion.url.removeprefix("http://")
        outcome = await tab.page.evaluate(
            """address => new Promise(resolve => {
                const socket = new WebSocket(`ws://${address}/ws`);
                socket.onopen = () => resolve("open");
                socket.onclose = () => resolve("closed");
            })""",
            address,
        )
        assert outcome == "closed"
        for path, method in (("/healthz", "GET"), ("/", "GET"), ("/token", "POST")):
            read = "([url, method]) => fetch(url, { method }).then(() => 'read', () => 'refused')"
            assert await tab.page.evaluate(read, [companion.url + path, method]) == "refused"
        await tab.page.evaluate(
            "url => new Promise(resolve => { const frame = document.createElement('iframe');"
            " frame.src = url; frame.onload = resolve; document.body.append(frame); })",
            companion.url,
        )
        for frame in tab.page.frames[1:]:
            assert await frame.locator("pet-app").count() == 0
        assert companion.provider.requests == []
        tab.faults.clear()
