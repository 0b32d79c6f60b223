"""Text from anywhere, fit for a model: bounded before it is copied, valid, without keys or base64. Pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final

from server.masking import mask_secrets, without_folders
from server.models.tokens import count_tokens

MAX_ERROR: Final = 600
_MARGIN: Final = 400
_HEAD: Final = 0.75
_DEEPEST: Final = 60
_LEAST_CHARS: Final = 60
_BASE64: Final = re.compile(r"(?P<uri>data:[\w/+.;=-]{1,80};base64,)?(?P<data>[A-Za-z0-9+/]{400,}={0,2})")
_KINDS: Final = (re.compile("[A-Z]"), re.compile("[a-z]"), re.compile("[0-9]"))


def fit_for_model(text: str, max_chars: int) -> str:
    """``text`` masked, without base64, in valid Unicode, of at most ``max_chars`` characters.

    Only what may stay is ever copied, with a margin, so that a key on the edge is masked too.
    """
    if len(text) <= max_chars + 2 * _MARGIN:
        return cut(_cleaned(text), max_chars)
    head, tail = _shares(max_chars, len(text))
    left_out = len(text) - head - tail
    start = _cleaned(text[: head + _MARGIN])[:head]
    end = _cleaned(text[len(text) - tail - _MARGIN :])
    return f"{start}{_gap(left_out)}{end[max(0, len(end) - tail) :]}"


def fit_error(text: str) -> str:
    """An error in a few words for a model and the page: no key, no folder."""
    return cut(without_folders(_cleaned(text[: 8 * MAX_ERROR])), MAX_ERROR)


def cut(text: str, max_chars: int) -> str:
    """At most ``max_chars`` characters of ``text``: its beginning and, where it is long, its end."""
    if len(text) <= max_chars:
        return text
    head, tail = _shares(max_chars, len(text))
    return f"{text[:head]}{_gap(len(text) - head - tail)}{text[len(text) - tail :]}"


def cut_to_tokens(text: str, tokens: int) -> str:
    """At most ``tokens`` tokens of ``text``, by estimate; some words always stay."""
    size, kept = count_tokens(text), text
    room = len(text)
    while size > tokens and room > _LEAST_CHARS:
        room = max(_LEAST_CHARS, int(room * tokens / size) - 1)
        kept = cut(text, room)
        size = count_tokens(kept)
    return kept


def speakable(text: str) -> str:
    """``text`` as valid Unicode: halves of surrogate pairs become ``?``."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def without_surrogates(value: Any) -> Any:
    """The same JSON value with every string :func:`speakable`."""
    if isinstance(value, str):
        return speakable(value)
    if isinstance(value, list):
        return [without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {speakable(key): without_surrogates(item) for key, item in value.items()}
    return value


def compact_json(value: Any, max_chars: int) -> str:
    """``value`` as compact JSON, broken off behind ``max_chars`` characters: no more than that is ever made.

    NaN and infinities become strings, bytes their count, anything else that JSON lacks its ``str``.
    """
    writer = _Writer(max_chars + 2 * _MARGIN)
    writer.write(value, 0)
    return "".join(writer.pieces)


class _Writer:
    def __init__(self, left: int) -> None:
        self.pieces: list[str] = []
        self._left = left

    def write(self, value: Any, depth: int) -> None:
        if depth > _DEEPEST:
            self._put('"(nested too deeply)"')
        elif isinstance(value, str):
            self._put(json.dumps(value[: self._left + 1], ensure_ascii=False))
        elif isinstance(value, float):
            self._put(repr(value) if math.isfinite(value) else f'"{value}"')
        elif isinstance(value, bool) or value is None:
            self._put(json.dumps(value))
        elif isinstance(value, int):
            self._put(str(value) if value.bit_length() < 10_000 else '"(a huge number)"')
        elif isinstance(value, Mapping):
            self._many("{}", value.items(), depth)
        elif isinstance(value, (list, tuple, set, frozenset)):
            self._many("[]", value, depth)
        elif isinstance(value, (bytes, bytearray, memoryview)):
            self._put(f'"({len(value)} bytes)"')
        else:
            self._put(json.dumps(str(value)[: self._left + 1], ensure_ascii=False))

    def _many(self, brackets: str, items: Any, depth: int) -> None:
        self._put(brackets[0])
        for index, item in enumerate(items):
            if self._left <= 0:
                return
            if index:
                self._put(",")
            if brackets == "{}":
                self._put(json.dumps(str(item[0]), ensure_ascii=False) + ":")
                item = item[1]
            self.write(item, depth + 1)
        self._put(brackets[1])

    def _put(self, piece: str) -> None:
        self.pieces.append(piece)
        self._left -= len(piece)


def _cleaned(text: str) -> str:
    return mask_secrets(_BASE64.sub(_left_out, speakable(text)))


def _left_out(match: re.Match[str]) -> str:
    """Nothing of base64; a long row of letters that is none stays."""
    sample = match["data"][:400]
    if match["uri"] or all(kind.search(sample) for kind in _KINDS):
        return "(base64 left out)"
    return match[0]


def _shares(max_chars: int, length: int) -> tuple[int, int]:
    room = max(0, max_chars - len(_gap(length)))
    head = int(room * _HEAD)
    return head, room - head


def _gap(left_out: int) -> str:
    return f"\n… ({left_out} characters left out) …\n"
