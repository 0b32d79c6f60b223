"""Pictures as bytes: checked, scaled, cut. Plain functions that block; Pillow is imported when first used."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from math import ceil, floor
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from PIL import Image as Pillow

MODEL_SIDE: Final = 1280
"""Longest side, in pixels, of what a model is shown."""

MAX_BYTES: Final = 32 * 1024 * 1024
MAX_PIXELS: Final = 80_000_000
KEPT_PIXELS: Final = 40_000_000
KEPT_BYTES: Final = 12 * 1024 * 1024
THUMBNAIL_SIDE: Final = 320
THUMBNAIL_BYTES: Final = 30 * 1024
_SMALLEST_CUT: Final = 64  # some vision models refuse less than 28 px
_FORMATS: Final = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
_KEPT_AS_THEY_ARE: Final = frozenset({"PNG", "JPEG", "WEBP"})
_ORIENTATION: Final = 0x0112

# Two large pictures at a time are enough memory.
_decoding = threading.BoundedSemaphore(2)


class ImageError(ValueError):
    """Bytes that are no picture that can be used; the message is short and fit for a model."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A picture in the forms that are needed.

    Attributes:
        data: full size (bounded by ``KEPT_PIXELS``), upright, the first frame alone.
        mime: of ``data``.
        width, height: of ``data``, in pixels.
        model_copy: JPEG of at most ``MODEL_SIDE`` pixels a side, with no metadata.
        thumbnail: JPEG of at most ``THUMBNAIL_SIDE`` pixels a side and ``THUMBNAIL_BYTES``.
    """

    data: bytes = field(repr=False)
    mime: str
    width: int
    height: int
    model_copy: bytes = field(repr=False)
    thumbnail: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of a picture.

    Attributes:
        box: left, top, right, bottom in pixels of the whole.
        width, height: of ``data``; smaller than the box where that was larger than ``MODEL_SIDE``.
    """

    data: bytes = field(repr=False)
    box: tuple[int, int, int, int]
    width: int
    height: int


def prepare(data: bytes) -> Prepared:
    """Checks a picture and makes its copies.

    Raises:
        ImageError: not a picture, a broken one, or one that is too large.
    """
    with _decoding:
        picture, kept_as_it_is, form = _decode(data)
        if not kept_as_it_is:
            data, mime = encode_full(picture)
        else:
            mime = _FORMATS[form]
        model = _flattened(_within(picture, MODEL_SIDE))
        return Prepared(
            data=data,
            mime=mime,
            width=picture.width,
            height=picture.height,
            model_copy=_jpeg(model, 88),
            thumbnail=_jpeg_within(_within(model, THUMBNAIL_SIDE), THUMBNAIL_BYTES, (80, 60, 40, 20)),
        )


def cut(data: bytes, left: float, top: float, right: float, bottom: float) -> Cut:
    """A part of the picture ``data`` at full resolution, as PNG of at most ``MODEL_SIDE`` pixels a side.

    Args:
        left, top, right, bottom: fractions of its size, 0 to 1. A part too small for a model to see is
            widened around its middle.

    Raises:
        ImageError: ``data`` can't be used, or the part is empty.
    """
    if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
        raise ImageError("the part is empty: 0 <= left < right <= 1 and 0 <= top < bottom <= 1 must hold")
    with _decoding:
        picture, _kept, _form = _decode(data)
        x = _span(left, right, picture.width)
        y = _span(top, bottom, picture.height)
        part = _within(picture.crop((x[0], y[0], x[1], y[1])), MODEL_SIDE)
        return Cut(_png(part), (x[0], y[0], x[1], y[1]), part.width, part.height)


def encode_full(picture: Pillow.Image) -> tuple[bytes, str]:
    """A picture for keeping and its MIME type: PNG, or JPEG where that would be too large."""
    data = _png(picture)
    if len(data) <= KEPT_BYTES:
        return data, "image/png"
    return _jpeg_within(_flattened(picture), KEPT_BYTES, (92, 80, 60)), "image/jpeg"


def _decode(data: bytes) -> tuple[Pillow.Image, bool, str]:
    """The picture (RGB, RGBA or L), whether ``data`` may stay as it is, and its format."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    if len(data) > MAX_BYTES:
        raise ImageError(f"the picture is larger than {MAX_BYTES >> 20} MB")
    try:
        with Image.open(BytesIO(data), formats=tuple(_FORMATS)) as opened:
            form, size = opened.format or "", opened.size
            if size[0] * size[1] > MAX_PIXELS:
                raise ImageError(f"the picture has {size[0]}×{size[1]} pixels, which is too large")
            plain = not getattr(opened, "is_animated", False) and form in _KEPT_AS_THEY_ARE
            upright = opened.getexif().get(_ORIENTATION, 1) == 1
            opened.load()
            picture = _plain_mode(opened if upright else ImageOps.exif_transpose(opened))
    except ImageError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ImageError("the picture has too many pixels") from None
    except UnidentifiedImageError:
        raise ImageError("these bytes are no PNG, JPEG, WebP or GIF picture") from None
    except Exception:  # a decoder fed with hostile bytes raises whatever comes up
        raise ImageError("the picture is broken") from None
    scaled = _scaled_to_pixels(picture, KEPT_PIXELS)
    return scaled, plain and upright and scaled is picture and len(data) <= KEPT_BYTES, form


def _plain_mode(picture: Pillow.Image) -> Pillow.Image:
    if picture.mode in ("RGB", "RGBA", "L"):
        return picture
    if picture.mode.startswith("I"):  # 16 bits a pixel: the upper eight count
        return picture.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    return picture.convert("RGBA" if picture.has_transparency_data else "RGB")


def _scaled_to_pixels(picture: Pillow.Image, pixels: int) -> Pillow.Image:
    count = picture.width * picture.height
    if count <= pixels:
        return picture
    factor = (pixels / count) ** 0.5
    return picture.resize(
        (max(1, int(picture.width * factor)), max(1, int(picture.height * factor))), reducing_gap=2.0
    )


def _within(picture: Pillow.Image, side: int) -> Pillow.Image:
    """A copy of at most ``side`` pixels a side; the picture itself where it fits."""
    from PIL import Image

    longest = max(picture.size)
    if longest <= side:
        return picture
    size = tuple(max(1, round(length * side / longest)) for length in picture.size)
    return picture.resize((size[0], size[1]), Image.Resampling.LANCZOS, reducing_gap=3.0)


def _flattened(picture: Pillow.Image) -> Pillow.Image:
    """Without transparency, on white."""
    from PIL import Image

    if picture.mode != "RGBA":
        return picture
    ground = Image.new("RGB", picture.size, "white")
    ground.paste(picture, mask=picture.getchannel("A"))
    return ground


def _jpeg_within(picture: Pillow.Image, limit: int, qualities: Sequence[int]) -> bytes:
    """At the first quality whose size is within ``limit``, else at the last."""
    for quality in qualities[:-1]:
        data = _jpeg(picture, quality)
        if len(data) <= limit:
            return data
    return _jpeg(picture, qualities[-1])


def _jpeg(picture: Pillow.Image, quality: int) -> bytes:
    out = BytesIO()
    # No colour subsampling: it blurs coloured text on screens.
    picture.save(out, "JPEG", quality=quality, subsampling=0)
    return out.getvalue()


def _png(picture: Pillow.Image) -> bytes:
    out = BytesIO()
    picture.save(out, "PNG", compress_level=1)
    return out.getvalue()


def _span(start: float, end: float, length: int) -> tuple[int, int]:
    """Pixels from ``start`` to ``end`` (fractions of ``length``), ``_SMALLEST_CUT`` of them at least."""
    first, last = floor(start * length), ceil(end * length)
    missing = min(_SMALLEST_CUT, length) - (last - first)
    if missing > 0:
        first = min(max(0, first - missing // 2), length - min(_SMALLEST_CUT, length))
        last = first + min(_SMALLEST_CUT, length)
    return first, last
