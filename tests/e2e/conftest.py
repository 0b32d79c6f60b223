"""One browser for all tests here; every tab that a test opens is looked over when the test has passed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.fakes.openai_server import ScriptedProvider
from tests.support.browser import Tab, chromium, find_chromium, tab
from tests.support.companion import NO_TOOLS, lab_toml
from tests.support.process import PetProcess, serving

expect.set_options(timeout=20_000)

API_KEY = "sk-test-0123456789abcdefghijklmnop"


@dataclass
class Scripted:
    """A companion in its own process, whose chat model says what a test wants it to say."""

    provider: ScriptedProvider
    pet: PetProcess

    @property
    def url(self) -> str:
        return self.pet.url


def write_config(folder: Path, provider: ScriptedProvider, extra: str = "", *, tools: bool = False) -> None:
    """A lab.toml whose chat model is ``provider``'s, asked with a key; ``extra`` is added to it.

    Without ``tools`` no tool model is asked first, so that a script is the chat model's alone.
    """
    config = lab_toml(provider.base_url, extra=extra) + ("" if tools else NO_TOOLS)
    config = config.replace("\n[agent", f'\napi_key = "{API_KEY}"\n[agent', 1)
    (folder / "lab.toml").write_text(config, encoding="utf-8")


@asynccontextmanager
async def scripted(
    folder: Path, extra: str = "", *, tools: bool = False, **provider: Any
) -> AsyncIterator[Scripted]:
    """A companion that lives in ``folder``; ``provider`` goes to :class:`ScriptedProvider`."""
    async with ScriptedProvider(**provider) as model:
        write_config(folder, model, extra, tools=tools)
        async with serving(folder) as pet:
            yield Scripted(model, pet)


class OpenTab(Protocol):
    async def __call__(self, url: str, **context: Any) -> Tab: ...


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    executable = find_chromium()
    if executable is None:
        pytest.skip("no Chromium on PATH; PET_CHROMIUM can name one")
    async with chromium(executable) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def companion(tmp_path: Path) -> AsyncIterator[Scripted]:
    async with scripted(tmp_path) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def open_tab(browser: Browser) -> AsyncIterator[Callable[..., Any]]:
    """Opens windows for a test. At its end none of them may have logged an error or shown a dialog."""
    tabs: list[Tab] = []
    async with AsyncExitStack() as stack:

        async def opened(url: str, **context: Any) -> Tab:
            tabs.append(await stack.enter_async_context(tab(browser, url, **context)))
            return tabs[-1]

        yield opened
        assert [fault for each in tabs for fault in each.faults] == []
