from __future__ import annotations

import random
import struct
import zlib
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from tools import pictures
from tools.pictures import ImageError, cut, prepare


def encoded(picture: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    out = BytesIO()
    picture.save(out, form, **options)
    return out.getvalue()


def decoded(data: bytes) -> Image.Image:
    picture = Image.open(BytesIO(data))
    picture.load()
    return picture


def noise(width: int, height: int) -> Image.Image:
    return Image.frombytes("RGB", (width, height), random.Random(7).randbytes(width * height * 3))


def empty_png(width: int, height: int) -> bytes:
    """A PNG that claims a size and holds next to nothing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    )


def test_a_small_picture_stays_as_it_is_and_gets_its_copies() -> None:
    data = encoded(Image.new("RGB", (600, 400), "red"))
    kept = prepare(data)
    assert (kept.data, kept.mime, kept.width, kept.height) == (data, "image/png", 600, 400)
    assert decoded(kept.model_copy).size == (600, 400)
    assert decoded(kept.thumbnail).size == (320, 213)


def test_a_model_is_shown_at_most_1280_pixels_a_side_while_the_whole_is_kept() -> None:
    kept = prepare(encoded(Image.new("RGB", (3840, 2160), "teal")))
    assert (kept.width, kept.height) == (3840, 2160)
    copy = decoded(kept.model_copy)
    assert (copy.format, copy.size) == ("JPEG", (1280, 720))


def test_a_picture_20_000_pixels_long_is_usable() -> None:
    kept = prepare(encoded(Image.new("L", (20_000, 30), 200)))
    assert (kept.width, kept.height) == (20_000, 30)
    assert decoded(kept.model_copy).size == (1280, 2)


def test_a_picture_of_60_megapixels_is_kept_smaller() -> None:
    kept = prepare(encoded(Image.new("L", (20_000, 3000), 200)))
    assert kept.width * kept.height <= pictures.KEPT_PIXELS
    assert kept.width / kept.height == pytest.approx(20_000 / 3000, rel=0.01)


@pytest.mark.parametrize("side", [10_000, 12_000, 20_000, 60_000])
def test_a_decompression_bomb_is_refused_before_it_is_decoded(side: int) -> None:
    with pytest.raises(ImageError, match="pixels"):
        prepare(empty_png(side, side))


def test_more_bytes_than_a_picture_needs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MAX_BYTES", 1000)
    with pytest.raises(ImageError, match="larger than"):
        prepare(encoded(noise(40, 40)))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"%PDF-1.7",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xe0",
        b"GIF89a",
        b"RIFF\x10\x00\x00\x00WEBPVP8 ",
    ],
    ids=["nothing", "text", "svg", "pdf", "png head", "jpeg head", "gif head", "webp head"],
)
def test_what_is_no_picture_is_refused_in_one_short_sentence(data: bytes) -> None:
    with pytest.raises(ImageError) as caught:
        prepare(data)
    assert len(str(caught.value)) < 100


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF"])
def test_a_truncated_picture_is_broken(form: str) -> None:
    data = encoded(noise(300, 200), form)
    with pytest.raises(ImageError):
        prepare(data[: len(data) // 2])


def test_of_an_animation_the_first_frame_counts() -> None:
    frames = [Image.new("RGB", (50, 40), colour) for colour in ("red", "lime", "blue")]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=20)
    kept = prepare(data)
    assert kept.mime == "image/png"
    assert decoded(kept.data).convert("RGB").getpixel((5, 5)) == (255, 0, 0)


def test_a_photo_is_turned_upright() -> None:
    photo = Image.new("RGB", (200, 100), "white")
    photo.paste("black", (0, 0, 100, 100))
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned clockwise by 90 degrees
    kept = prepare(encoded(photo, "JPEG", exif=exif))
    upright = decoded(kept.data).convert("L")
    assert upright.size == (100, 200)
    assert upright.getpixel((50, 10)) == pytest.approx(0, abs=8)
    assert upright.getpixel((50, 190)) == pytest.approx(255, abs=8)


def test_what_a_model_is_shown_holds_no_metadata() -> None:
    exif = Image.Exif()
    exif[0x010E] = "taken at home, 52.5 N 13.4 E"
    kept = prepare(encoded(Image.new("RGB", (80, 80)), "JPEG", exif=exif))
    assert b"taken at home" in kept.data
    assert b"taken at home" not in kept.model_copy + kept.thumbnail


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16", "CMYK"])
def test_every_kind_of_pixel_can_be_shown(mode: str) -> None:
    form = "JPEG" if mode == "CMYK" else "PNG"
    kept = prepare(encoded(Image.new(mode, (70, 70)), form))
    assert decoded(kept.model_copy).mode in ("RGB", "L")


def test_16_bit_grey_keeps_its_brightness() -> None:
    kept = prepare(encoded(Image.new("I;16", (70, 70), 0x8000)))
    assert decoded(kept.model_copy).convert("L").getpixel((9, 9)) == pytest.approx(128, abs=3)


def test_transparency_is_shown_on_white() -> None:
    kept = prepare(encoded(Image.new("RGBA", (70, 70), (0, 0, 0, 0))))
    assert decoded(kept.model_copy).getpixel((9, 9)) == (255, 255, 255)


def test_a_thumbnail_of_noise_stays_small() -> None:
    kept = prepare(encoded(noise(640, 640)))
    assert len(kept.thumbnail) <= pictures.THUMBNAIL_BYTES


def test_a_picture_that_is_large_as_png_is_kept_as_jpeg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "KEPT_BYTES", 300_000)
    kept = prepare(encoded(noise(500, 300)))
    assert (kept.mime, decoded(kept.data).size) == ("image/jpeg", (500, 300))
    assert len(kept.data) <= 300_000


def test_a_cut_shows_every_pixel_of_its_part() -> None:
    board = Image.new("L", (3000, 2000), 255)
    for x in range(100):
        for y in range(100):
            board.putpixel((1500 + x, 1000 + y), 255 * ((x + y) % 2))
    part = cut(encoded(board), 0.5, 0.5, 0.5 + 100 / 3000, 0.5 + 100 / 2000)
    assert (part.box, part.width, part.height) == ((1500, 1000, 1600, 1100), 100, 100)
    shown = decoded(part.data)
    assert [shown.getpixel((x, 0)) for x in range(4)] == [0, 255, 0, 255]


def test_a_cut_larger_than_a_model_is_shown_is_scaled() -> None:
    part = cut(encoded(Image.new("L", (4000, 2000))), 0, 0, 1, 1)
    assert (part.box, part.width, part.height) == ((0, 0, 4000, 2000), 1280, 640)


def test_a_cut_too_small_to_see_is_widened_around_its_middle() -> None:
    part = cut(encoded(Image.new("L", (1000, 1000))), 0.5, 0, 0.501, 0.001)
    assert (part.width, part.height) == (64, 64)
    assert part.box == (469, 0, 533, 64)


def test_a_cut_at_the_very_edge_stays_inside() -> None:
    assert cut(encoded(Image.new("L", (30, 1000))), 0.99, 0.999, 1, 1).box == (0, 936, 30, 1000)


@pytest.mark.parametrize(
    "part", [(0.5, 0, 0.5, 1), (0.6, 0, 0.5, 1), (0, -0.1, 1, 1), (0, 0, 25, 50), (float("nan"), 0, 1, 1)]
)
def test_an_empty_or_impossible_part_is_refused(part: tuple[float, float, float, float]) -> None:
    with pytest.raises(ImageError, match="0 <= left < right <= 1"):
        cut(encoded(Image.new("L", (100, 100))), *part)
