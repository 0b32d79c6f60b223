"""Whether a message keeps to its limits: checked before anything is spent on it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Final

from server.config.schema import Limits
from server.errors import PetError
from server.protocol import Image
from server.visible import is_blank

_MIB: Final = 1024 * 1024
_BEGINNINGS: Final = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
}


def check_message(limits: Limits, text: str, images: Sequence[Image]) -> None:
    """Checks the length of the text, and number, size, encoding and type of the images.

    Raises:
        PetError: ``too_large`` for a broken limit, ``bad_request`` for an empty message or a picture that
            isn't what it says it is.
    """
    if len(text) > limits.max_text_chars:
        raise PetError("too_large", "gateway.text_too_long", length=len(text), limit=limits.max_text_chars)
    if is_blank(text) and not images:
        raise PetError("bad_request", "gateway.empty")
    if len(images) > limits.max_images:
        raise PetError("too_large", "gateway.too_many_images", count=len(images), limit=limits.max_images)
    # Four characters carry three bytes: what is too large is refused before it is decoded.
    if sum(len(image.data) // 4 * 3 - 2 for image in images) > limits.max_image_bytes:
        raise _too_large(limits)
    if sum(_size(number, image) for number, image in enumerate(images, 1)) > limits.max_image_bytes:
        raise _too_large(limits)


def _size(number: int, image: Image) -> int:
    try:
        raw = base64.b64decode(image.data, validate=True)
    except (binascii.Error, ValueError):
        raise PetError("bad_request", "gateway.image_unreadable", number=number) from None
    if not raw:
        raise PetError("bad_request", "gateway.image_unreadable", number=number)
    if not _is_type(image.mime, raw):
        raise PetError("bad_request", "gateway.image_type", number=number, mime=image.mime)
    return len(raw)


def _is_type(mime: str, raw: bytes) -> bool:
    if mime == "image/webp":
        return raw[:4] == b"RIFF" and raw[8:12] == b"WEBP"
    return raw.startswith(_BEGINNINGS[mime])


def _too_large(limits: Limits) -> PetError:
    return PetError("too_large", "gateway.images_too_large", limit=f"{limits.max_image_bytes / _MIB:.3g}")
