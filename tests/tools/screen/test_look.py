"""Real screenshots of a real display, Debian's Xvfb."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from server.config.store import ConfigStore
from tests.support.calls import Context
from tests.support.x11 import Display, x_display
from tools.contract import PicturePart, TextPart, ToolFailure, ToolResult
from tools.pictures import prepare
from tools.screen import capture, screen_tools
from tools.screen.look import LookCloser, ScreenShot

RED, GREEN, BLUE, WHITE = 0xFF0000, 0x00FF00, 0x0000FF, 0xFFFFFF


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> Iterator[Display]:
    with x_display() as running:
        monkeypatch.setenv("DISPLAY", running.name)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        monkeypatch.delenv("XDG_SESSION_TYPE", raising=False)
        yield running


@pytest.fixture
def store(tmp_path: Path) -> ConfigStore:
    return store_of(tmp_path, "")


def store_of(folder: Path, text: str) -> ConfigStore:
    path = folder / "lab.toml"
    path.write_text(text, encoding="utf-8")
    return ConfigStore(path, folder / "data")


@pytest.fixture
def painted(display: Display) -> Iterator[Display]:
    """Red on the left, green on the right, a blue square and a checkerboard of single pixels."""
    with display.painter() as painter:
        window = painter.window((0, 0, 1600, 900))
        painter.fill(window, RED, [(0, 0, 800, 900)])
        painter.fill(window, GREEN, [(800, 0, 800, 900)])
        painter.fill(window, BLUE, [(100, 200, 50, 50)])
        painter.fill(window, WHITE, [(1200, 600, 80, 80)])
        squares = [(1200 + x, 600 + y, 1, 1) for x in range(80) for y in range(80) if (x + y) % 2]
        painter.fill(window, 0x000000, squares)
        yield display


async def take(store: ConfigStore, context: Context | None = None, **arguments: int) -> ToolResult:
    async with asyncio.timeout(30):
        return await ScreenShot(store).call(arguments, context or Context())


def parts(result: ToolResult) -> tuple[str, PicturePart, Image.Image]:
    text, picture = result.parts
    assert isinstance(text, TextPart)
    assert isinstance(picture, PicturePart)
    shown = Image.open(BytesIO(picture.data))
    return text.text, picture, shown.convert("RGB")


async def test_the_colours_are_where_they_are_on_the_screen(painted: Display, store: ConfigStore) -> None:
    text, picture, shown = parts(await take(store))
    assert shown.size == (1600, 900)
    assert [shown.getpixel(at) for at in ((10, 890), (1590, 10), (125, 225))] == [
        (255, 0, 0),
        (0, 255, 0),
        (0, 0, 255),
    ]
    assert picture.title == "screenshot of the whole screen"
    assert "1600×900" in text
    assert "vision__look_closer" in text


async def test_a_model_is_shown_it_scaled_down(painted: Display, store: ConfigStore) -> None:
    _text, picture, _shown = parts(await take(store))
    copy = Image.open(BytesIO(prepare(picture.data).model_copy))
    assert (copy.format, copy.size) == ("JPEG", (1280, 720))


async def test_looking_closer_shows_every_pixel(painted: Display, store: ConfigStore) -> None:
    _text, picture, _shown = parts(await take(store))
    context = Context(pictures={"img_1": picture})
    arguments = {
        "image_ref": "img_1",
        "left": 1200 / 1600,
        "top": 600 / 900,
        "right": 1280 / 1600,
        "bottom": 680 / 900,
    }
    text, part, shown = parts(await LookCloser().call(arguments, context))
    assert shown.size == (80, 80)
    assert [shown.getpixel((x, 0)) for x in range(4)] == [(255,) * 3, (0,) * 3, (255,) * 3, (0,) * 3]
    assert "at full resolution" in text
    assert part.title == "part of img_1 (screenshot of the whole screen)"


async def test_each_monitor_can_be_asked_for(painted: Display, store: ConfigStore) -> None:
    with painted.painter() as painter:
        painter.add_monitor("left", (0, 0, 800, 900))
        painter.add_monitor("right", (800, 0, 800, 900))
        text, picture, shown = parts(await take(store, monitor=2))
        assert shown.size == (800, 900)
        assert shown.getcolors() is not None
        assert shown.getpixel((5, 5)) == (0, 255, 0)
        assert picture.title == "screenshot of monitor 2"
        assert "1 (800×900), 2 (800×900)" in text
        _text, _picture, whole = parts(await take(store, monitor=0))
        assert whole.size == (1600, 900)
        with pytest.raises(ToolFailure, match=r"there is no monitor 9; monitors: 1 \(800×900\), 2"):
            await take(store, monitor=9)


async def test_the_owner_is_asked_and_told_what_about(painted: Display, store: ConfigStore) -> None:
    context = Context()
    await take(store, context, monitor=1)
    assert context.asked == [("screenshot", "#1 · 1600×900")]


async def test_without_consent_nothing_is_captured(
    painted: Display, store: ConfigStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.screen.look.grab", lambda number: pytest.fail("it looked"))
    with pytest.raises(ToolFailure, match="owner doesn't want it") as caught:
        await take(store, Context(consents=False))
    assert caught.value.denied
    assert "denied" not in str(caught.value)


async def test_what_was_switched_off_since_it_was_offered_is_not_done(
    painted: Display, tmp_path: Path
) -> None:
    context = Context()
    with pytest.raises(ToolFailure) as caught:
        await take(store_of(tmp_path, "[tools]\nscreenshot = false\n"), context)
    assert caught.value.denied
    assert context.asked == []


async def test_a_black_screen_was_not_seen(display: Display, store: ConfigStore) -> None:
    with pytest.raises(ToolFailure) as caught:
        await take(store)
    assert str(caught.value) == (
        "the desktop can't be seen: it comes out black (it may be off or locked); "
        "ask the user for a picture or a description"
    )


async def test_a_black_screen_on_wayland_says_so(
    display: Display, store: ConfigStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_SESSION_TYPE", "wayland")
    with pytest.raises(ToolFailure, match="usual on Wayland"):
        await take(store)


async def test_a_dark_screen_with_a_little_light_is_seen(display: Display, store: ConfigStore) -> None:
    with display.painter() as painter:
        painter.fill(painter.window((700, 400, 3, 3)), 0x101010, [(0, 0, 3, 3)])
        _text, _picture, shown = parts(await take(store))
        assert shown.getpixel((701, 401)) == (16, 16, 16)


@pytest.mark.skipif("sys.platform in ('win32', 'darwin')", reason="these always have a display")
@pytest.mark.parametrize(
    ("environ", "reason"),
    [
        ({}, "there is no display"),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "Wayland"),
        ({"DISPLAY": ":64999"}, "the display can't be reached"),
        ({"DISPLAY": "nonsense"}, "the display can't be reached"),
    ],
)
async def test_where_nothing_can_be_seen_nobody_is_asked(
    environ: dict[str, str], reason: str, store: ConfigStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    context = Context()
    with pytest.raises(ToolFailure, match=f"the desktop can't be seen: .*{reason}.*; ask the user for"):
        await take(store, context)
    assert context.asked == []


async def test_a_display_that_hangs_holds_up_nobody(painted: Display, store: ConfigStore) -> None:
    painted.freeze()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await ScreenShot(store).call({}, Context())
    painted.thaw()
    assert parts(await take(store))[2].size == (1600, 900)


async def test_only_one_look_can_hang(
    painted: Display, store: ConfigStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture, "_PATIENCE_S", 0.05)
    with capture._one_at_a_time, pytest.raises(ToolFailure, match="an earlier look at it still hangs"):
        await take(store)


async def test_nothing_is_written_to_disk(
    painted: Display, store: ConfigStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = files_in(tmp_path)
    await take(store)
    assert files_in(tmp_path) == before


def files_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


async def test_a_picture_that_is_gone_is_named() -> None:
    with pytest.raises(ToolFailure, match="there is no picture 'img_9'"):
        await LookCloser().call(
            {"image_ref": "img_9", "left": 0, "top": 0, "right": 1, "bottom": 1}, Context()
        )


async def test_an_impossible_part_is_explained(store: ConfigStore) -> None:
    out = BytesIO()
    Image.new("RGB", (200, 200)).save(out, "PNG")
    context = Context(pictures={"img_1": PicturePart(out.getvalue(), "image/png")})
    arguments = {"image_ref": "img_1", "left": 0.5, "top": 0, "right": 0.5, "bottom": 1}
    with pytest.raises(ToolFailure, match="left < right"):
        await LookCloser().call(arguments, context)


def test_both_tools_are_there(store: ConfigStore) -> None:
    assert [tool.info.name for tool in screen_tools(store)] == ["vision__screen_shot", "vision__look_closer"]


@pytest.mark.parametrize(
    ("told", "meaning"),
    [
        ("Library libxcb-randr.so not found", "missing (libxcb-randr.so)"),
        ("Cannot connect to display :9", "can't be reached"),
        ("BitBlt failed", "refused"),
    ],
)
def test_failures_are_told_in_plain_words(told: str, meaning: str) -> None:
    assert meaning in capture.why_failed(told)


def test_macos_has_to_allow_it() -> None:
    assert "macOS has to allow" in capture.why_black("darwin", {})
    assert capture.why_no_display("darwin", {}) is None
    assert capture.why_no_display("win32", {}) is None
