"""An MCP server's answer as our result: texts, structured data, pictures; everything else is named."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

from server.masking import mask_secrets, without_folders
from tools.contract import DataPart, Part, PicturePart, TextPart, ToolFailure, ToolResult

_PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
_MAX_FAILURE: Final = 1000
_STACK_LINE = re.compile(r'^\s*(?:at .+[):]\d*|File ".*", line \d+.*|Traceback \(.*)$', re.MULTILINE)


def converted(answer: CallToolResult, secrets: Sequence[str] = ()) -> ToolResult:
    """What ``answer`` gives.

    Raises:
        ToolFailure: it says of itself that the call failed.
    """
    parts = list(_parts(answer.content))
    if answer.is_error:
        text = "\n".join(part.text for part in parts if isinstance(part, TextPart))
        raise ToolFailure(short(text, secrets) or "The tool failed and didn't say why.")
    if answer.structured_content is not None:
        parts = _with_data(parts, finite(answer.structured_content))
    return ToolResult(parts or [TextPart("(an empty answer)")])


def short(text: str, secrets: Sequence[str] = ()) -> str:
    """An error's text for a model: no key, no stack, no absolute path, at most 1,000 characters."""
    text = _STACK_LINE.sub("", text[: 8 * _MAX_FAILURE])
    text = without_folders(mask_secrets(text, *secrets))
    text = "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
    return text if len(text) <= _MAX_FAILURE else text[: _MAX_FAILURE - 1] + "…"


def finite(value: Any) -> Any:
    """``value`` with words for the numbers that JSON doesn't have."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value


def _parts(content: Sequence[ContentBlock]) -> Iterator[Part]:
    for block in content:
        match block:
            case TextContent():
                yield TextPart(block.text)
            case ImageContent():
                yield _picture(block.data, block.mime_type, "a picture")
            case AudioContent():
                yield TextPart(f"(a sound of type {block.mime_type[:100]}, which can't be heard here)")
            case ResourceLink():
                about = f": {block.description}" if block.description else ""
                yield TextPart(f"(a resource, {block.title or block.name}, at {block.uri}{about})"[:2000])
            case EmbeddedResource():
                yield _resource(block)


def _resource(block: EmbeddedResource) -> Part:
    resource = block.resource
    if isinstance(resource, BlobResourceContents):
        return _picture(resource.blob, resource.mime_type or "", f"the resource {resource.uri[:300]}")
    return TextPart(resource.text)


def _picture(data: str, mime: str, what: str) -> Part:
    mime = mime.split(";")[0].strip().lower()
    if mime == "image/jpg":
        mime = "image/jpeg"
    if mime not in _PICTURES:
        return TextPart(f"({what} of type {mime[:100] or 'unknown'}, which can't be shown here)")
    try:
        return PicturePart(base64.b64decode(data, validate=False), mime)
    except (binascii.Error, ValueError):
        return TextPart(f"({what} that can't be read)")


def _with_data(parts: list[Part], data: Any) -> list[Part]:
    """Servers say structured data a second time as text, for clients that don't know it. Once is enough: a
    text that only stands for itself as text, everything else as data."""
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    if isinstance(data, dict) and data.keys() == {"result"}:
        only = data["result"]
        if only in ("\n".join(texts), texts) or (
            isinstance(only, int | float) and texts == [json.dumps(only)]
        ):
            return parts
    others = [part for part in parts if not (isinstance(part, TextPart) and _says(part.text, data))]
    return [*others, DataPart(data)]


def _says(text: str, data: Any) -> bool:
    try:
        return bool(json.loads(text) in (data, data.get("result") if isinstance(data, dict) else data))
    except (ValueError, RecursionError):
        return False
