"""Pictures that go with a message: prepared in the page, seen by the model, counted by the history."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.async_api import FilePayload, expect

from tests.e2e.conftest import OpenTab, scripted
from tests.fakes.openai_server import ScriptedProvider
from tests.support.browser import Tab

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

SEES = "supports_vision = true"


def picture(name: str, width: int, height: int) -> FilePayload:
    """A noisy picture, which compresses badly, with the place where it was taken."""
    drawn = Image.effect_noise((width, height), 60).convert("RGB")
    target = io.BytesIO()
    if name.endswith(".png"):
        Image.new("RGB", (width, height), "navy").save(target, "PNG")
        return {"name": name, "mimeType": "image/png", "buffer": target.getvalue()}
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    drawn.save(target, "JPEG", quality=95, exif=exif)
    return {"name": name, "mimeType": "image/jpeg", "buffer": target.getvalue()}


def received(provider: ScriptedProvider) -> list[bytes]:
    """The pictures that the chat model got last; the tool model is only told that there are some."""
    contents = [request.body["messages"][-1]["content"] for request in provider.requests]
    parts = next(content for content in reversed(contents) if isinstance(content, list))
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [base64.b64decode(url.partition(",")[2]) for url in urls]


async def sends(tab: Tab) -> list[dict[str, Any]]:
    """The messages that the page sends from now on."""
    frames: list[dict[str, Any]] = []

    def sent(payload: str | bytes) -> None:
        frame = json.loads(payload)
        if frame["type"] == "send":
            frames.append(frame)

    tab.page.on("websocket", lambda socket: socket.on("framesent", sent))
    await tab.page.reload()
    await expect(tab.hook("state-line")).to_have_attribute("data-state", "ready")
    return frames


async def test_pictures_are_scaled_down_seen_and_counted(tmp_path: Path, open_tab: OpenTab) -> None:
    async with scripted(tmp_path, SEES) as companion:
        tab = await open_tab(companion.url)
        messages = await sends(tab)
        heic: FilePayload = {
            "name": "holiday.heic",
            "mimeType": "image/heic",
            "buffer": b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(200),
        }
        files = [picture("big.jpg", 3000, 2000), picture("small.png", 320, 200), heic]
        await tab.hook("picture-file").set_input_files(files)
        await expect(tab.hook("picture-remove")).to_have_count(2)
        await expect(tab.hook("picture-complaint")).to_contain_text("holiday.heic")
        await tab.say("What are these?")
        await expect(tab.messages("assistant", "done")).to_have_count(1)
        large, small = (base64.b64decode(image["data"]) for image in messages[0]["images"])
        assert Image.open(io.BytesIO(large)).size == (1568, 1045)
        assert Image.open(io.BytesIO(large)).format == "JPEG"
        assert b"taken at home" not in large
        assert Image.open(io.BytesIO(small)).size == (320, 200)
        assert Image.open(io.BytesIO(small)).format == "PNG"
        assert len(received(companion.provider)) == 2
        await expect(tab.hook("picture-remove")).to_have_count(0)
        await expect(tab.messages("user").locator("img")).to_have_count(2)

        await tab.page.reload()
        await expect(tab.messages("user")).to_contain_text("2 images")


async def test_more_pictures_than_a_message_takes_are_left_out_by_number(
    tmp_path: Path, open_tab: OpenTab
) -> None:
    async with scripted(tmp_path, SEES) as companion:
        tab = await open_tab(companion.url, locale="zh-CN")
        await expect(tab.hook("state-line")).to_have_attribute("data-state", "ready")
        files = [picture(f"{number}.png", 40, 30) for number in range(50)]
        await tab.hook("picture-file").set_input_files(files)
        await expect(tab.hook("picture-remove")).to_have_count(4)
        await expect(tab.hook("picture-complaint")).to_contain_text("有 46 张没有加入")
        await tab.hook("picture-remove").first.click()
        await expect(tab.hook("picture-remove")).to_have_count(3)
        await tab.hook("composer").press("Enter")
        await expect(tab.messages("assistant", "done")).to_have_count(1)
        assert len(received(companion.provider)) == 3
