"""What is on the screen now, or why it can't be seen. Plain functions that block.

A capture that comes back black has not been seen: that is what Wayland and a missing permission give.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from mss import MSS
    from PIL import Image as Pillow

_BLACK: Final = 3  # of 255: the brightest value that still counts as black
_PATIENCE_S: Final = 5.0

# A display that hangs must cost one thread, not one a call.
_one_at_a_time = threading.Lock()


class Unseen(Exception):
    """The screen can't be seen; the message says why in a few words."""


@dataclass(frozen=True, slots=True)
class Monitor:
    """``number`` 0 is all of them together; sizes are in the units of the system's desktop."""

    number: int
    width: int
    height: int


def monitors() -> list[Monitor]:
    """All together (number 0), then each.

    Raises:
        Unseen: there is no screen that could be seen.
    """
    with _screen() as screen:
        return [
            Monitor(number, int(found["width"]), int(found["height"]))
            for number, found in enumerate(screen.monitors)
        ]


def grab(number: int) -> Pillow.Image:
    """The picture of a monitor (0: all of them) in its physical pixels, as RGB.

    Raises:
        Unseen: nothing could be seen, or only black.
    """
    from PIL import Image

    with _screen() as screen:
        found = screen.monitors
        if number >= len(found):
            raise Unseen("that monitor was unplugged")
        shot = screen.grab(found[number])
        try:
            size = (shot.width, shot.height)
            picture = Image.frombytes("RGB", size, bytes(shot.raw), "raw", "BGRX")
        except ValueError:
            raise Unseen("it came in a form that can't be read") from None
    channels = cast("tuple[tuple[int, int], ...]", picture.getextrema())
    if max(brightest for _darkest, brightest in channels) <= _BLACK:
        raise Unseen(why_black(sys.platform, os.environ))
    return picture


def why_no_display(platform: str, environ: Mapping[str, str]) -> str | None:
    """Why there can be no screen, from the surroundings alone; None where there may be one."""
    if platform in ("win32", "darwin") or environ.get("DISPLAY"):
        return None
    if environ.get("WAYLAND_DISPLAY"):
        return "the desktop runs on Wayland, which shows it to no other program"
    return "there is no display"


def why_black(platform: str, environ: Mapping[str, str]) -> str:
    """Why a capture is likely to be all black."""
    if platform == "darwin":
        return "it comes out black; macOS has to allow screen recording for this program"
    if environ.get("WAYLAND_DISPLAY") or environ.get("XDG_SESSION_TYPE") == "wayland":
        return "it comes out black, as is usual on Wayland"
    return "it comes out black (it may be off or locked)"


def why_failed(told: str) -> str:
    """In a few words, what a failure of the capturing library means."""
    lower = told.lower()
    if "not found" in lower and "lib" in lower:
        library = next((word for word in told.split() if word.startswith("libx")), "")
        return f"a system library that shows it is missing ({library or 'libxcb'})"
    if "connect" in lower or "display" in lower:
        return "the display can't be reached"
    return "the system refused to show it"


@contextmanager
def _screen() -> Iterator[MSS]:
    if (reason := why_no_display(sys.platform, os.environ)) is not None:
        raise Unseen(reason)
    if not _one_at_a_time.acquire(timeout=_PATIENCE_S):
        raise Unseen("an earlier look at it still hangs")
    try:
        import mss

        if sys.platform == "darwin":
            _prepare_macos()
        try:
            with mss.MSS() as screen:
                yield screen
        except (mss.ScreenShotError, OSError, AttributeError) as error:
            raise Unseen(why_failed(str(error))) from None
    finally:
        _one_at_a_time.release()


if sys.platform == "darwin":

    def _prepare_macos() -> None:
        """Asks for physical pixels, and whether other programs' windows would be in the picture at all:
        without the permission macOS gives the wallpaper instead, and no error."""
        import ctypes

        import mss.darwin

        mss.darwin.IMAGE_OPTIONS &= ~mss.darwin.kCGWindowImageNominalResolution
        graphics: Any = ctypes.CDLL("/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics")
        if hasattr(graphics, "CGPreflightScreenCaptureAccess"):
            graphics.CGPreflightScreenCaptureAccess.restype = ctypes.c_bool
            if not graphics.CGPreflightScreenCaptureAccess():
                raise Unseen("macOS has not allowed screen recording for this program")
