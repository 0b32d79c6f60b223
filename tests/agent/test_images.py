from __future__ import annotations

import asyncio
import re
from io import BytesIO

import pytest
from PIL import Image

from server.agent.images import ImageError, ImageStore


def png(colour: str, side: int = 80) -> bytes:
    out = BytesIO()
    Image.new("RGB", (side, side), colour).save(out, "PNG")
    return out.getvalue()


async def test_references_count_and_name_their_picture() -> None:
    store = ImageStore()
    assert await store.add(png("red"), "image/png", "a red square") == "img_1"
    assert await store.add(png("blue")) == "img_2"
    assert store.last_ref == "img_2"
    first, second = store.get("img_1"), store.get("img_2")
    assert first is not None
    assert second is not None
    assert first.describe() == "img_1: a red square (image/png, 80×80)"
    assert second.describe() == "img_2 (image/png, 80×80)"


async def test_base64_is_in_no_text() -> None:
    store = ImageStore()
    image = store.get(await store.add(png("red"), title="x"))
    assert not re.search(
        r"[A-Za-z0-9+/=]{40}", (image.describe() if image else "") + str(store.part("img_1"))
    )


async def test_what_the_bytes_are_beats_what_they_are_called() -> None:
    store = ImageStore()
    image = store.get(await store.add(png("red"), "image/jpeg"))
    assert image is not None
    assert image.mime == "image/png"


async def test_the_oldest_go_when_the_store_is_full_and_numbers_only_grow() -> None:
    store = ImageStore()
    await store.add(png("red"))
    room = store.bytes_used
    store = ImageStore(max_bytes=2 * room + room // 2)
    for colour in ("red", "lime", "blue", "teal"):
        await store.add(png(colour))
    assert store.refs == ["img_3", "img_4"]
    assert store.bytes_used <= 2.5 * room
    assert store.get("img_1") is None
    assert store.part("img_1") is None
    assert store.thumbnail("img_2") is None
    assert await store.add(png("red")) == "img_5"


async def test_the_newest_stays_even_alone_over_the_bound() -> None:
    store = ImageStore(max_bytes=10)
    await store.add(png("red"))
    await store.add(png("blue"))
    assert store.refs == ["img_2"]


async def test_numbers_go_on_after_those_of_an_earlier_life() -> None:
    store = ImageStore(after=7)
    assert await store.add(png("red")) == "img_8"
    assert store.get("img_7") is None


async def test_what_is_no_picture_takes_no_number() -> None:
    store = ImageStore()
    with pytest.raises(ImageError):
        await store.add(b"no picture", "image/png")
    assert store.last_ref is None
    assert await store.add(png("red")) == "img_1"


async def test_many_at_once_get_a_reference_each() -> None:
    store = ImageStore()
    refs = await asyncio.gather(*(store.add(png("red")) for _ in range(16)))
    assert sorted(refs) == sorted(store.refs)
    assert len(set(refs)) == 16


async def test_the_same_content_has_the_same_digest() -> None:
    store = ImageStore()
    one, two, other = [store.get(await store.add(png(colour))) for colour in ("red", "red", "blue")]
    assert one is not None
    assert two is not None
    assert other is not None
    assert one.digest == two.digest != other.digest


async def test_tools_get_the_picture_at_full_size() -> None:
    store = ImageStore()
    data = png("red", 2000)
    part = store.part(await store.add(data, title="big"))
    assert part is not None
    assert (part.data, part.mime, part.title) == (data, "image/png", "big")
