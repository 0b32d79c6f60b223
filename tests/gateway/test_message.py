from __future__ import annotations

import base64

import pytest

from server.config.schema import Limits
from server.errors import PetError
from server.gateway.message import check_message
from server.protocol import Image

BEGINNINGS = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff\xe0",
    "image/gif": b"GIF89a",
    "image/webp": b"RIFF\x04\x00\x00\x00WEBP",
}


def image(mime: str = "image/png", raw: bytes | None = None, data: str | None = None) -> Image:
    raw = BEGINNINGS[mime] if raw is None else raw
    return Image.model_validate(
        {"mime": mime, "data": base64.b64encode(raw).decode() if data is None else data}
    )


def code(limits: Limits, text: str, *images: Image) -> str:
    try:
        check_message(limits, text, images)
    except PetError as error:
        said = error.message("en"), error.message("zh-CN")
        return error.code if all(said) else "no words"
    return "ok"


LIMITS = Limits(max_text_chars=10, max_images=2, max_image_bytes=100)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x" * 10, "ok"),
        ("x" * 11, "too_large"),
        ("你" * 10, "ok"),
        ("😀" * 11, "too_large"),
        ("", "bad_request"),
        (" \n", "bad_request"),
        ("\u200b\u200d\ufe0f", "bad_request"),
    ],
)
def test_a_text_is_counted_in_characters_and_has_some(text: str, expected: str) -> None:
    assert code(LIMITS, text) == expected


def test_a_picture_needs_no_words() -> None:
    assert code(LIMITS, "", image()) == "ok"


@pytest.mark.parametrize("mime", BEGINNINGS)
def test_a_picture_is_of_the_type_that_it_says(mime: str) -> None:
    assert code(LIMITS, "x", image(mime)) == "ok"
    for other, beginning in BEGINNINGS.items():
        if other != mime:
            assert code(LIMITS, "x", image(mime, beginning)) == "bad_request"
    assert code(LIMITS, "x", image(mime, b"<script>")) == "bad_request"


@pytest.mark.parametrize(
    "data",
    [
        "",
        "=",
        "iVBORw0KGgo",
        "iVBORw0KGg_=",
        "iVBORw0K Ggo=",
        "data:image/png;base64,iVBORw0KGgo=",
        "é",
        "iVBO\nRw0KGgo=",
    ],
)
def test_damaged_base64_is_refused(data: str) -> None:
    assert code(LIMITS, "x", image(data=data)) == "bad_request"


def test_pictures_are_bounded_in_number_and_together_in_size() -> None:
    half = image(raw=BEGINNINGS["image/png"] + b"x" * 42)
    more = image(raw=BEGINNINGS["image/png"] + b"x" * 43)
    assert code(LIMITS, "x", half, half) == "ok"
    assert code(LIMITS, "x", half, more) == "too_large"
    assert code(LIMITS, "x", image(), image(), image()) == "too_large"
    assert code(LIMITS, "x", image(data="x" * 4_000_000)) == "too_large"
    assert code(Limits(max_images=0), "x", image()) == "too_large"
