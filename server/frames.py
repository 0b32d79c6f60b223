"""Reads a client's frame, writes a server's: between JSON text and :mod:`server.protocol`. No sockets."""

from __future__ import annotations

import json
from typing import Any, Final, get_args

from pydantic import ValidationError

from server.protocol import ClientFrame, Request, ServerMessage

_CLIENT_FRAMES: Final[dict[str, type[Request]]] = {
    get_args(model.model_fields["type"].annotation)[0]: model for model in get_args(ClientFrame)
}

_WRONG: Final[dict[str, tuple[str, str]]] = {
    "missing": ("missing", ""),
    "extra_forbidden": ("unknown_field", ""),
    "string_type": ("not_text", ""),
    "int_type": ("not_integer", ""),
    "float_type": ("not_number", ""),
    "bool_type": ("not_bool", ""),
    "tuple_type": ("not_list", ""),
    "dict_type": ("not_object", ""),
    "model_type": ("not_object", ""),
    "literal_error": ("not_one_of", "expected"),
    "string_too_short": ("too_short", ""),
    "string_too_long": ("too_long", "max_length"),
    "greater_than_equal": ("too_small", "ge"),
    "greater_than": ("not_above", "gt"),
    "less_than_equal": ("too_large", "le"),
}
"""Of pydantic's kinds of errors: our own, and which part of the context is the bound."""


class BadFrame(ValueError):
    """A frame that can't be read: no JSON, no object, an unknown type or a wrong field.

    Attributes:
        kind: what is wrong, a key of ``server/texts/frames.toml``.
        re: the frame's ``id`` where it could be read, so that the answer reaches its asker.
        params: what the text names: ``field`` (dotted), ``bound``, ``given``.
    """

    def __init__(self, kind: str, re: str | None = None, **params: str) -> None:
        super().__init__(" ".join((kind, *params.values())))
        self.kind = kind
        self.re = re
        self.params = params


def decode(raw: str | bytes) -> ClientFrame:
    """Reads one client frame.

    Raises:
        BadFrame: ``raw`` is binary, no JSON, no object, of an unknown type or has a wrong field.
    """
    if isinstance(raw, bytes):
        raise BadFrame("binary")
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        raise BadFrame("no_json") from None
    if not isinstance(data, dict):
        raise BadFrame("no_object")
    if "\\ud" in raw or "\\uD" in raw:
        data = _without_lone_surrogates(data)
    frame_id = data.get("id")
    re = frame_id if isinstance(frame_id, str) and len(frame_id) <= 64 else None
    kind = data.get("type")
    if not isinstance(kind, str):
        raise BadFrame("no_type", re)
    model = _CLIENT_FRAMES.get(kind)
    if model is None:
        raise BadFrame("unknown_type", re, given=kind[:40])
    try:
        frame: ClientFrame = model.model_validate(data)  # type: ignore[assignment]
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part)[:40] for part in first["loc"]) or kind
        wrong, bound = _WRONG.get(first["type"], ("invalid", ""))
        told = first.get("ctx", {}).get(bound, "")
        told = f"{told:g}" if isinstance(told, float) else str(told).replace(" or ", ", ").replace("'", '"')
        raise BadFrame(wrong, re, field=where, bound=told) from None
    return frame


def _without_lone_surrogates(value: Any) -> Any:
    """JSON may hold halves of characters, which nothing else can: U+FFFD stands for them."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_lone_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {
            _without_lone_surrogates(name): _without_lone_surrogates(item) for name, item in value.items()
        }
    return value


def encode(frame: ServerMessage) -> str:
    """One frame as JSON text; fields that are null are left out."""
    return frame.model_dump_json(exclude_none=True)
