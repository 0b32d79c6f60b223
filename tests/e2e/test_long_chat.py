"""A chat of ten thousand messages: what is seen is in the document, and the place stays."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import OpenTab, write_config
from tests.fakes.openai_server import Pause, Reply, ScriptedProvider
from tests.support.process import serving

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

MESSAGES = 10_000
MOST_IN_DOCUMENT = 81
# The first message that is seen whole, and how far below the upper edge it stands.
SEEN = """() => {
    const root = document.querySelector("pet-app").shadowRoot.querySelector("pet-transcript").shadowRoot;
    const edge = root.querySelector(".scroll").getBoundingClientRect().top;
    const items = [...root.querySelectorAll("li")];
    const item = items.find((each) => each.getBoundingClientRect().top >= edge);
    return [item.querySelector("[data-testid=text]").textContent, item.getBoundingClientRect().top - edge];
}"""
SCROLL_BY = """(pixels) => new Promise((done) => {
    const root = document.querySelector("pet-app").shadowRoot.querySelector("pet-transcript").shadowRoot;
    root.querySelector(".scroll").scrollTop += pixels;
    requestAnimationFrame(() => requestAnimationFrame(done));
})"""


def fill(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        (session,) = connection.execute("SELECT session FROM messages LIMIT 1").fetchone()
        connection.execute("DELETE FROM messages")
        connection.executemany(
            "INSERT INTO messages (id, session, turn, role, text, at, state) "
            "VALUES (?, ?, 0, ?, ?, '2026-01-01T00:00:00+00:00', 'whole')",
            (
                (f"m{number}", session, ("user", "assistant")[number % 2], f"Message {number}.")
                for number in range(MESSAGES)
            ),
        )


async def test_ten_thousand_messages_are_read_page_by_page_and_the_place_stays(
    tmp_path: Path, open_tab: OpenTab
) -> None:
    async with ScriptedProvider() as provider:
        write_config(tmp_path, provider)
        async with serving(tmp_path) as pet:
            tab = await open_tab(pet.url)
            await tab.say("Hello")
            await expect(tab.messages("assistant", "done")).to_have_count(1)
            await tab.page.context.close()
        fill(tmp_path / "data" / "pet.db")
        async with serving(tmp_path) as pet:
            tab = await open_tab(pet.url)
            await expect(tab.reply()).to_have_text(f"Message {MESSAGES - 1}.")
            oldest = MESSAGES
            for _ in range(400):
                await tab.page.evaluate(SCROLL_BY, -700)
                in_document = tab.hook("message")
                assert await in_document.count() <= MOST_IN_DOCUMENT
                text, _ = await tab.page.evaluate(SEEN)
                now = int(text.removeprefix("Message ").removesuffix("."))
                assert oldest - 40 < now <= oldest, "the place was lost"
                oldest = now
                if oldest < MESSAGES - 500:
                    break
            assert oldest < MESSAGES - 500

            before = await tab.page.evaluate(SEEN)
            provider.script(Reply("A new ", Pause(), "reply."))
            other = await open_tab(pet.url)
            await other.say("From elsewhere")
            await expect(tab.hook("new")).to_be_visible()
            provider.release()
            await expect(other.reply()).to_have_text("A new reply.")
            text, top = await tab.page.evaluate(SEEN)
            assert text == before[0]
            assert abs(top - before[1]) < 2
            await tab.hook("new").click()
            await expect(tab.reply()).to_have_text("A new reply.")
            await expect(tab.reply()).to_be_in_viewport()
