"""Estimates of tokens, for models whose tokeniser we don't have.

An estimate is honest within about a third, which is enough to fit a prompt into a context and to notice
that a provider read only a part of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from server.protocol import Usage

_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+")
_OTHER = re.compile("[^\x00-\x7f]+")

_PER_WIDE = 0.75  # Chinese, Japanese, Korean: current tokenisers need 0.6 to 1 a character
_PER_OTHER = 0.5
_PER_ASCII = 0.25
_PER_MESSAGE = 4  # role and delimiters

_CUT_SHARE = 0.6
_CUT_FROM = 300
_MOST_TOKENS = 100_000_000


def count_tokens(text: str) -> int:
    """About how many tokens ``text`` has."""
    if text.isascii():
        return math.ceil(len(text) * _PER_ASCII)
    narrow = _WIDE.sub("", text)
    ascii_only = _OTHER.sub("", narrow)
    wide, other = len(text) - len(narrow), len(narrow) - len(ascii_only)
    return math.ceil(wide * _PER_WIDE + other * _PER_OTHER + len(ascii_only) * _PER_ASCII)


def count_prompt(messages: Iterable[Mapping[str, Any]]) -> int:
    """About how many tokens a request's messages have; pictures are not counted."""
    total = 3
    for message in messages:
        content = message.get("content")
        if isinstance(content, str):
            total += count_tokens(content)
        elif isinstance(content, list):
            total += sum(count_tokens(part.get("text") or "") for part in content if isinstance(part, dict))
        total += _PER_MESSAGE
    return total


def prompt_was_cut(usage: Usage, estimated: int) -> bool:
    """Whether the provider read so much less than was sent that it must have cut the prompt silently."""
    return estimated >= _CUT_FROM and 0 < usage.prompt < estimated * _CUT_SHARE


def told_usage(prompt: Any, completion: Any) -> Usage | None:
    """A provider's own count; None where it is none that could be true."""
    counts = (prompt, completion)
    if all(isinstance(count, int) and 0 <= count <= _MOST_TOKENS for count in counts):
        return Usage(prompt=prompt, completion=completion)
    return None
