from __future__ import annotations

import base64
from io import BytesIO

from PIL import Image

from server.agent.images import ImageStore
from server.agent.sight import HIDDEN, MAX_PICTURES, image_parts, sort_pictures, without_pictures


async def stored(*colours: str) -> ImageStore:
    store = ImageStore()
    for colour in colours:
        out = BytesIO()
        Image.new("RGB", (1500, 900), colour).save(out, "PNG")
        await store.add(out.getvalue(), title=f"{colour} wall")
    return store


async def test_a_chat_model_that_sees_is_shown_the_pictures() -> None:
    store = await stored("red", "blue")
    sight = sort_pictures(["img_1", "img_2", "img_1"], store, chat_sees=True)
    assert [image.ref for image in sight.shown] == ["img_1", "img_2"]
    assert not sight.described
    assert not sight.lost


async def test_one_that_does_not_gets_none() -> None:
    store = await stored("red")
    sight = sort_pictures(["img_1"], store, chat_sees=False)
    assert not sight.shown
    assert [image.ref for image in sight.described] == ["img_1"]


async def test_a_picture_that_was_dropped_is_told_of() -> None:
    store = await stored("red")
    sight = sort_pictures(["img_7", "img_1"], store, chat_sees=True)
    assert [(ref, problem.text) for ref, problem in sight.lost] == [("img_7", "vision.gone")]
    assert [image.ref for image in sight.shown] == ["img_1"]


async def test_of_very_many_pictures_the_latest_are_looked_at() -> None:
    store = await stored("red")
    refs = [f"img_{number}" for number in range(-MAX_PICTURES, 2)]
    sight = sort_pictures(refs, store, chat_sees=True)
    assert [image.ref for image in sight.shown] == ["img_1"]
    assert [problem.text for _, problem in sight.lost].count("vision.too_many") == 2


async def test_without_pictures_there_is_nothing_to_see() -> None:
    assert not sort_pictures([], ImageStore(), chat_sees=True)


async def test_a_model_is_given_the_small_copy_behind_the_words_that_name_it() -> None:
    store = await stored("red")
    text, picture = image_parts(sort_pictures(["img_1"], store, chat_sees=True).shown)
    assert text == {"type": "text", "text": "img_1: red wall (image/png, 1500×900)"}
    kind, _, data = picture["image_url"]["url"].partition(";base64,")
    assert kind == "data:image/jpeg"
    assert Image.open(BytesIO(base64.b64decode(data))).size == (1280, 768)


def test_no_picture_of_the_history_reaches_a_text_only_model() -> None:
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    messages = [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": [{"type": "text", "text": "what is this?"}, url]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "tool_call_id": "1", "content": "done"},
        {"role": "user", "content": [url, {"type": "input_image", "data": "AAAA"}]},
    ]
    plain = without_pictures(messages)
    assert "AAAA" not in str(plain)
    assert plain[1] == {"role": "user", "content": f"what is this?\n{HIDDEN}"}
    assert plain[4]["content"] == f"{HIDDEN}\n{HIDDEN}"
    assert plain[2] == messages[2]
    assert "image not seen" in HIDDEN
