"""A real Chromium on the page, spoken to as a person would: by what shows and by the keyboard."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import groupby
from typing import Any

from playwright.async_api import Browser, Locator, Page, WebSocket, async_playwright

# Chromium asks home for updates, lists and experiments of its own accord; a test machine has no use for that.
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-features=MediaRouter,OptimizationHints,Translate",
    "--no-first-run",
    "--no-proxy-server",
)
# Every element, through open shadow roots; what scrolls sideways by itself (a wide table, code) may do so.
_STICKING_OUT = """() => {
    const found = [];
    const walk = (root) => {
        for (const element of root.querySelectorAll(":scope > *")) {
            const style = getComputedStyle(element);
            if (element.matches(".visually-hidden") || style.display === "none") continue;
            const box = element.getBoundingClientRect();
            if (box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5))
                found.push(`${element.localName}.${element.className}: ${box.left} to ${box.right}`);
            if (["auto", "scroll"].includes(style.overflowX)) continue;
            if (style.overflowX === "hidden" && element.scrollWidth > element.clientWidth + 1)
                found.push(`${element.localName}.${element.className} hides ${element.scrollWidth}`);
            walk(element);
            if (element.shadowRoot) walk(element.shadowRoot);
        }
    };
    const page = document.documentElement;
    if (page.scrollWidth > page.clientWidth) found.push(`the page is ${page.scrollWidth} wide`);
    walk(document.body);
    return found;
}"""


def find_chromium() -> str | None:
    """The browser that ``PET_CHROMIUM`` names, or one on ``PATH``."""
    names = (os.environ.get("PET_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if name and (found := shutil.which(name))), None)


@asynccontextmanager
async def chromium(executable: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=list(_ARGUMENTS))
        try:
            yield browser
        finally:
            await browser.close()


class Tab:
    """One page of the companion.

    Attributes:
        faults: everything that must not happen in an ordinary run: errors and warnings on the console (a
            broken content security policy is one), exceptions that nobody caught, dialogs.
        frames: what the server sent, in order.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.faults: list[str] = []
        self.frames: list[dict[str, Any]] = []
        page.on("console", lambda message: self._logged(message.type, message.text))
        page.on("pageerror", lambda error: self.faults.append(f"uncaught: {error}"))
        page.on("websocket", self._connected)
        page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))

    def _connected(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda payload: self.frames.append(json.loads(payload)))

    def _logged(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.faults.append(f"{kind}: {text}")

    def forgive(self, pattern: str) -> None:
        """Drops the faults that a test has brought about on purpose."""
        self.faults = [fault for fault in self.faults if not re.search(pattern, fault)]

    def hook(self, name: str) -> Locator:
        return self.page.get_by_test_id(name)

    def messages(self, role: str, state: str | None = None) -> Locator:
        wanted = f'[data-testid="message"][data-role="{role}"]'
        return self.page.locator(wanted + (f'[data-state="{state}"]' if state else ""))

    def reply(self) -> Locator:
        """The visible text of the newest finished reply."""
        return self.messages("assistant").last.get_by_test_id("text").last

    def failure(self) -> Locator:
        """The newest line that says what went wrong."""
        return self.hook("line").last

    async def watch_stage(self) -> None:
        """From now on, whatever the character does is remembered."""
        await self.hook("stage").evaluate(
            "stage => { stage.seen = [];"
            " new MutationObserver(() => stage.seen.push({ ...stage.dataset }))"
            ".observe(stage, { attributes: true }); }"
        )

    async def seen_on_stage(self, attribute: str) -> list[str]:
        """The values that the ``data-`` attribute has had since, each once in a row."""
        poses: list[dict[str, str]] = await self.hook("stage").evaluate("stage => stage.seen")
        return [value for value, _ in groupby(pose[attribute] for pose in poses)]

    async def sticking_out(self) -> list[str]:
        """What is cut off at the side of the window, or would make it scroll sideways."""
        found: list[str] = await self.page.evaluate(_STICKING_OUT)
        return found

    async def say(self, text: str) -> None:
        await self.hook("composer").fill(text)
        await self.hook("composer").press("Enter")


@asynccontextmanager
async def tab(browser: Browser, url: str, **context: Any) -> AsyncIterator[Tab]:
    """A window of its own (nothing kept from others) that shows ``url``; ``context`` as Playwright's."""
    context = {"locale": "en-US", "viewport": {"width": 1280, "height": 800}, **context}
    window = await browser.new_context(**context)
    try:
        opened = Tab(await window.new_page())
        await opened.page.goto(url)
        yield opened
    finally:
        await window.close()
