"""What a piece of Markdown sounds like: its words without the signs around them."""

from __future__ import annotations

import re
from typing import Final

_LINE_START: Final = re.compile(
    r"(?:[ \t]*(?:>|#{1,6}(?=[ \t])|[-*+](?=[ \t])(?:[ \t]+\[[ xX]\](?=[ \t]))?))+"
)
_CODE: Final = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*(?:[ \t]+\"[^\"]*\")?\)|\[[^\[\]]*\])")
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]*>")
_ADDRESS: Final = re.compile(r"<((?:https?://|mailto:)[^<>\s]+)>")
_STRESS: Final = re.compile(r"(?<!\\)(?:\*+(?=\S)|(?<=\S)\*+)|~~|(?<!\w)_+(?=\S)|(?<=\S)_+(?!\w)")
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_BLANKS: Final = re.compile(r"[\s|]+")


def spoken(markdown: str, *, line_start: bool) -> str:
    """The words of one sentence or line; empty when there is nothing to say.

    Args:
        markdown: no more than one line, without fences.
        line_start: whether it begins a line, where headings, quotes and bullets have their signs.
    """
    if line_start and (signs := _LINE_START.match(markdown)):
        markdown = markdown[signs.end() :]
    parts: list[str] = []
    at = 0
    for code in _CODE.finditer(markdown):
        parts += _plain(markdown[at : code.start()]), code[2]
        at = code.end()
    parts.append(_plain(markdown[at:]))
    text = _BLANKS.sub(" ", "".join(parts)).strip()
    return text if any(map(str.isalnum, text)) else ""


def _plain(markdown: str) -> str:
    text = _LINK.sub(r"\1", markdown)
    text = _TAG.sub("", _ADDRESS.sub(r"\1", text))
    return _ESCAPE.sub(r"\1", _STRESS.sub("", text)).replace("`", "")
