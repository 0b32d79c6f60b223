"""From what a tool gave to what a model gets: the one place where results are converted and capped.

Text and data become one text; pictures go to the image store, and only their references into the text.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from server.agent.plain_text import compact_json, cut, fit_for_model
from server.agent.validate import find_problem
from tools.contract import DataPart, PicturePart, TextPart, ToolInfo, ToolResult

EMPTY: Final = "(the tool gave nothing back)"
_MAX_PICTURES: Final = 8
_MAX_PICTURE_CHARS: Final = 45_000_000
_MAX_LOOKED_AT: Final = 2000
_DATA_URI: Final = re.compile(r"data:(image/[a-z0-9.+-]{1,40});base64,")


class Picture(Protocol):
    """A stored picture."""

    @property
    def model_copy(self) -> bytes:
        """A JPEG for a model."""

    def describe(self) -> str:
        """The words that stand in its place in a text, its reference first."""


class Images(Protocol):
    """Where pictures are kept (:class:`server.agent.images.ImageStore`)."""

    async def add(self, data: bytes, mime: str = "", title: str = "") -> str:
        """Keeps a picture; its reference. ValueError: it is none."""

    def get(self, ref: str) -> Picture | None: ...


@dataclass(frozen=True, slots=True)
class Converted:
    """A result as text.

    Attributes:
        pictures: references, in order.
        problem: why the result can't be used; then ``text`` is what could be made of it.
    """

    text: str
    pictures: tuple[str, ...] = ()
    problem: str | None = None


async def convert(tool: ToolInfo, result: ToolResult, images: Images, max_chars: int) -> Converted:
    """The result in at most ``max_chars`` characters, pictures' references not counted."""
    pieces: list[str] = []
    given: list[PicturePart] = []
    for part in result.parts:
        if isinstance(part, TextPart):
            pieces.append(fit_for_model(part.text, max_chars))
        elif isinstance(part, DataPart):
            pieces.append(fit_for_model(compact_json(part.value, max_chars), max_chars))
            given += _pictures_in(part.value)
        elif isinstance(part, PicturePart):
            given.append(part)
    text = cut("\n".join(piece for piece in pieces if piece), max_chars)
    shown, refs, broken = await _keep(given, images)
    if len(given) > _MAX_PICTURES:
        shown.append(f"({len(given) - _MAX_PICTURES} more pictures left out)")
    problem = _unfit_data(tool, result, text) or (broken if broken and not refs and not text else None)
    if broken and problem is None:
        shown.append(broken)
    whole = "\n".join([*([text] if text else []), *shown])
    return Converted(whole or ("" if problem else EMPTY), tuple(refs), problem)


async def _keep(given: Sequence[PicturePart], images: Images) -> tuple[list[str], list[str], str | None]:
    """Stores pictures: the words in their place, their references, and what was wrong with a bad one."""
    shown: list[str] = []
    refs: list[str] = []
    broken: str | None = None
    for part in given[:_MAX_PICTURES]:
        try:
            ref = await images.add(part.data, part.mime, part.title)
        except ValueError as error:
            broken = f"a picture can't be used: {fit_for_model(str(error), 200)}"
            continue
        picture = images.get(ref)
        refs.append(ref)
        shown.append(f"picture {picture.describe() if picture is not None else ref}")
    return shown, refs, broken


def _unfit_data(tool: ToolInfo, result: ToolResult, text: str) -> str | None:
    """What is wrong with the structured part by the tool's output schema; one that was cut is not checked."""
    data = next((part for part in result.parts if isinstance(part, DataPart)), None)
    if tool.output_schema is None or data is None or "characters left out" in text:
        return None
    problem = find_problem(tool.name, tool.output_schema, data.value)
    return f"the result doesn't fit the tool's output schema: {problem}" if problem else None


def _pictures_in(value: Any) -> list[PicturePart]:
    """Pictures that travel as base64 inside structured data, in one of the usual forms."""
    found: list[PicturePart] = []
    for node in _nodes(value):
        if isinstance(node, dict):
            mime = node.get("mimeType") or node.get("mime_type") or node.get("media_type")
            data = node.get("data")
            if isinstance(mime, str) and mime.startswith("image/") and isinstance(data, str):
                found += _decoded(data, mime)
        elif isinstance(node, str) and (match := _DATA_URI.match(node)) is not None:
            found += _decoded(node[match.end() :], match[1])
    return found


def _decoded(text: str, mime: str) -> Iterator[PicturePart]:
    if 0 < len(text) <= _MAX_PICTURE_CHARS:
        try:
            yield PicturePart(base64.b64decode(text, validate=True), mime)
        except (binascii.Error, ValueError):
            return


def _nodes(value: Any) -> Iterator[Any]:
    """The first nodes of a JSON value, breadth first."""
    level = [value]
    seen = 0
    while level:
        below: list[Any] = []
        for node in level:
            seen += 1
            if seen > _MAX_LOOKED_AT:
                return
            yield node
            if isinstance(node, dict):
                below += list(node.values())[:_MAX_LOOKED_AT]
            elif isinstance(node, list):
                below += node[:_MAX_LOOKED_AT]
        level = below
