"""Splits a model's thinking from its reply, where it comes as ``<think>…</think>`` in the text.

Also ``thinking``, ``thought`` and ``reasoning``, in any case. A tag inside code of the reply is text
(:mod:`server.expression.code`); inside the thinking any closing tag ends it; a closing tag without an
opening one never shows; thinking that isn't closed goes on to the end. White space between a tag and
what it separates is dropped at the start of the thinking and of the reply. The output is the same
however the stream is cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

from server.expression.code import CodeAware, beginnings

_NAMES: Final = ("think", "thinking", "thought", "reasoning")
_NAME: Final = f"(?i:{'|'.join(_NAMES)})"
_TAG: Final = rf"<(?:(?P<open>{_NAME})|/{_NAME})>"
_OPENING_BEGUN: Final = beginnings(*(f"<{name}>" for name in _NAMES))
_CLOSING_BEGUN: Final = beginnings(*(f"</{name}>" for name in _NAMES))
_TAG_BEGUN: Final = f"(?i:{_OPENING_BEGUN}|{_CLOSING_BEGUN})"
_LONGEST: Final = len("</reasoning>")
_CLOSING: Final = re.compile(rf"</{_NAME}>")
_CLOSING_AT_END: Final = re.compile(rf"(?i:{_CLOSING_BEGUN})\Z")


@dataclass(frozen=True, slots=True)
class Reply:
    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    text: str


Split: TypeAlias = Reply | Thinking


class ReasoningSplitter:
    """Reads a model's answer piece by piece."""

    def __init__(self) -> None:
        self._code = CodeAware("<", _TAG, _TAG_BEGUN, _LONGEST, halt="open")
        self._thinking = False
        self._thought = False
        self._replied = False
        self._tagged = False
        self._blank: list[str] = []
        self._tail = ""

    def feed(self, text: str) -> list[Split]:
        return self._split(text, final=False)

    def close(self) -> list[Split]:
        """The answer is over: what was held back, a tag's beginning at the very end included."""
        split = self._split("", final=True)
        if not self._replied and not self._tagged and (blank := "".join(self._blank)):
            split.append(Reply(blank))
        return split

    def _split(self, text: str, *, final: bool) -> list[Split]:
        split: list[Split] = []
        while True:
            if self._thinking:
                closing = _CLOSING.search(buffer := self._tail + text)
                if closing is None:
                    self._think(split, buffer, final)
                    return split
                self._think(split, buffer[: closing.start()], True)
                self._thinking = False
                text = buffer[closing.end() :]
            for item in self._code.scan(text, final=final):
                if isinstance(item, str):
                    self._reply(split, item)
                else:
                    self._tagged = True
                    self._thinking = item["open"] is not None
            text = self._code.rest
            if not self._thinking:
                self._reply(split, text)
                return split
            self._thought = False

    def _think(self, split: list[Split], text: str, whole: bool) -> None:
        """Passes thinking on, white space at its start and what may become the closing tag excepted."""
        begun = None if whole else _CLOSING_AT_END.search(text, max(0, len(text) - _LONGEST))
        end = begun.start() if begun else len(text)
        self._tail = text[end:]
        text = text[:end] if self._thought else text[:end].lstrip()
        if text:
            self._thought = True
            split.append(Thinking(text))

    def _reply(self, split: list[Split], text: str) -> None:
        """Passes the reply on; white space at its start waits, since a tag may follow it."""
        if not self._replied:
            if not text or text.isspace():
                self._blank.append(text)
                return
            self._replied = True
            text = text.lstrip() if self._tagged else "".join((*self._blank, text))
        if text:
            split.append(Reply(text))
