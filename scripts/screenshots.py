"""Takes the pictures of the page for the documentation: ``python -m scripts.screenshots``.

The page and the server are the real ones; what the model says is written here, so that a picture changes only
when the page does.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, expect

from tests.fakes.openai_server import Reply, ScriptedProvider
from tests.support.browser import chromium, find_chromium, tab
from tests.support.companion import lab_toml
from tests.support.process import serving

_IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"


@dataclass(frozen=True)
class Picture:
    """A conversation in one language: what the person says, each with the reply to it."""

    file: str
    locale: str
    said: tuple[tuple[str, str], ...]


_TEST = """
```python
async def test_a_reader_waits_for_the_writer(cache: Cache) -> None:
    writing = asyncio.create_task(cache.refresh())
    await cache.write_begun.wait()
    assert await cache.read("key") == "new"
```
"""
_PICTURES = (
    Picture(
        "page.png",
        "en-US",
        (
            (
                "Everything is green again! It was a race in the cache.",
                "Nice hunting! A race is the mouse that is never there when you look. "
                "Did the reader slip in while the cache was being refreshed?",
            ),
            (
                "Exactly. How do I keep it from coming back?",
                "Pin it down with a test that forces the order, so that no luck is involved:\n"
                + _TEST
                + "\nThen stretch your paws. You have been sitting there for a while. [[expression:smile]]",
            ),
        ),
    ),
    Picture(
        "page-zh.png",
        "zh-CN",
        (
            (
                "测试终于全绿了！原来是缓存里的竞态。",
                "抓得漂亮！竞态就像老鼠，你一盯着看它就不见了。是缓存刷新到一半的时候，读取溜进来了吗？",
            ),
            (
                "对，就是这样。怎么保证它不再回来？",
                "写一个把先后顺序固定下来的测试，不靠运气：\n"
                + _TEST
                + "\n然后起来伸个懒腰吧，你已经坐了好一会儿了。[[expression:smile]]",
            ),
        ),
    ),
)


async def take(browser: Browser, picture: Picture, provider: ScriptedProvider, url: str) -> None:
    provider.script(*(Reply(reply, usage=(1200, 90)) for _, reply in picture.said))
    async with tab(browser, url, locale=picture.locale, color_scheme="light") as page:
        for count, (said, _) in enumerate(picture.said, start=1):
            await page.say(said)
            await expect(page.messages("assistant", "done")).to_have_count(count)
        await expect(page.hook("stage")).to_have_attribute("data-expression", "smile")
        await page.page.screenshot(path=_IMAGES / picture.file, animations="disabled", caret="hide")


async def main() -> None:
    executable = find_chromium()
    if executable is None:
        sys.exit("There is no Chromium on PATH; PET_CHROMIUM can name one.")
    _IMAGES.mkdir(parents=True, exist_ok=True)
    async with chromium(executable) as browser:
        for picture in _PICTURES:
            with tempfile.TemporaryDirectory() as folder:
                async with ScriptedProvider() as provider:
                    here = Path(folder)
                    (here / "lab.toml").write_text(lab_toml(provider.base_url), encoding="utf-8")
                    async with serving(here) as pet:
                        await take(browser, picture, provider, pet.url)
                        await pet.stop()


if __name__ == "__main__":
    asyncio.run(main())
