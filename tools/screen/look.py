"""``vision__screen_shot`` and ``vision__look_closer``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from server.config.store import ConfigStore
from tools.contract import CallContext, PicturePart, TextPart, ToolFailure, ToolInfo, ToolResult
from tools.pictures import MODEL_SIDE, ImageError, cut, encode_full
from tools.screen.capture import Monitor, Unseen, grab, monitors
from tools.threads import run_blocking

_ASK_INSTEAD: Final = "ask the user for a picture or a description"

SCREEN_SHOT: Final = ToolInfo(
    name="vision__screen_shot",
    description=(
        "Takes a picture of the user's screen as it is now. Use it when the message is about what is on the "
        "screen. Without arguments it shows everything."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "monitor": {
                "type": "integer",
                "minimum": 0,
                "description": "0 = all monitors together (the default), 1 = the first, 2 = the second…",
            }
        },
        "additionalProperties": False,
    },
    hint=(
        "Call it once more without arguments. If that fails too, say that the desktop can't be seen and "
        "ask for a picture or a description."
    ),
    timeout_s=45,  # the owner has 30 s to answer whether it is allowed
)

LOOK_CLOSER: Final = ToolInfo(
    name="vision__look_closer",
    description=(
        "Shows a part of a picture at full resolution, for small text or details. Give the picture's "
        "reference (img_1, img_2…) and the part's edges as fractions of the picture: the right half is "
        "left 0.5, top 0, right 1, bottom 1."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "image_ref": {"type": "string", "description": "such as img_3"},
            **{
                edge: {"type": "number", "minimum": 0, "maximum": 1}
                for edge in ("left", "top", "right", "bottom")
            },
        },
        "required": ["image_ref", "left", "top", "right", "bottom"],
        "additionalProperties": False,
    },
    hint=(
        "Call it once more with the reference of a picture of this chat and fractions from 0 to 1, left < "
        "right and top < bottom. If that fails too, go on with the whole picture."
    ),
)


class ScreenShot:
    """One picture of the screen, after its owner has allowed it."""

    info = SCREEN_SHOT

    def __init__(self, store: ConfigStore) -> None:
        self._store = store

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        number = int(arguments.get("monitor") or 0)
        if self._store.effective().screenshot is False:  # it may have been switched off since it was offered
            raise _not_allowed()
        try:
            found = await run_blocking(monitors, "monitors")
            if not 0 <= number < len(found):
                raise ToolFailure(f"there is no monitor {number}; {_choices(found)}")
            if not await context.consent("screenshot", _detail(found, number)):
                raise _not_allowed()
            data, mime, size = await run_blocking(partial(_shoot, number), "screenshot")
        except Unseen as unseen:
            raise ToolFailure(f"the desktop can't be seen: {unseen}; {_ASK_INSTEAD}") from None
        what = f"monitor {number}" if number else "the whole screen"
        text = f"Screenshot of {what}, {size[0]}×{size[1]} pixels."
        if len(found) > 2:
            text += f" {_choices(found)[0].upper()}{_choices(found)[1:]}."
        if max(size) > MODEL_SIDE:
            text += f" It is shown scaled down: {LOOK_CLOSER.name} shows a part of it at full resolution."
        return ToolResult((TextPart(text), PicturePart(data, mime, f"screenshot of {what}")))


class LookCloser:
    """A part of a stored picture."""

    info = LOOK_CLOSER

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        ref = str(arguments["image_ref"]).strip()
        edges = [float(arguments[edge]) for edge in ("left", "top", "right", "bottom")]
        picture = context.picture(ref)
        if picture is None:
            raise ToolFailure(f"there is no picture {ref[:40]!r} (any more); take a screenshot first")
        try:
            part = await run_blocking(partial(cut, picture.data, *edges), "look closer")
        except ImageError as error:
            raise ToolFailure(str(error)) from None
        left, top, right, bottom = part.box
        width = right - left
        scale = (
            "at full resolution"
            if part.width == width
            else f"scaled to {part.width / width:.0%}; a smaller part comes at full resolution"
        )
        text = f"Part of {ref}: pixels {left},{top} to {right},{bottom}, {scale}."
        title = f"part of {ref}" + (f" ({picture.title})" if picture.title else "")
        return ToolResult((TextPart(text), PicturePart(part.data, "image/png", title)))


def _shoot(number: int) -> tuple[bytes, str, tuple[int, int]]:
    picture = grab(number)
    data, mime = encode_full(picture)
    return data, mime, picture.size


def _choices(found: list[Monitor]) -> str:
    each = ", ".join(f"{monitor.number} ({monitor.width}×{monitor.height})" for monitor in found[1:])
    return f"monitors: {each or 'none'}; 0 is all of them"


def _detail(found: list[Monitor], number: int) -> str:
    """What the owner is asked about; it reads the same in every language."""
    monitor = found[number]
    return f"{f'#{number} · ' if number else ''}{monitor.width}×{monitor.height}"


def _not_allowed() -> ToolFailure:
    told = f"the desktop can't be seen: its owner doesn't want it to be; {_ASK_INSTEAD}"
    return ToolFailure(told, denied=True)
