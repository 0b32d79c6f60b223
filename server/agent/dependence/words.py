"""A message as a row of words, each with the kind of word that it is.

``words.toml`` lists the common words of both languages by kind. Whatever isn't listed is taken for the name
of something: what messages speak about is an open set, all other words are nearly a closed one.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from server.agent.addresses import without_addresses

Language = Literal["zh", "en"]

HEAD_CHARS: Final = 200
TAIL_CHARS: Final = 80
_LONGEST: Final = 5
_ADDRESS_MARK: Final = "\ue000"

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\u3007"
_PIECE: Final = re.compile(
    rf"(?P<address>{_ADDRESS_MARK})"
    r"|(?P<quoted>《[^》\n]{1,40}》|「[^」\n]{1,40}」|“[^”\n]{1,40}”|`[^`\n]{1,60}`|\"[^\"\n]{1,60}\")"
    rf"|(?P<cjk>[{_CJK}]+)"
    r"|(?P<number>\d+(?:[.:/%-]\d+)*)"
    r"|(?P<latin>[A-Za-z_](?:[\w+#]|['’.\-](?=[A-Za-z0-9_]))*(?:\(\))?)"
    r"|(?P<ask>[?？])",
    re.ASCII,
)
_GAP_IN_CHINESE: Final = re.compile(rf"(?<=[{_CJK}，。？！?])[ \u3000]+(?=[{_CJK}，。？！?])")
_NUMERALS: Final = frozenset("一二两三四五六七八九十百千万亿零半")
_JOINS_A_NAME: Final = frozenset(("quality", "time", "act", "number", "count"))


@dataclass(frozen=True, slots=True)
class Word:
    """Attributes:
    kind: a table of ``words.toml``, or ``name``, ``quoted``, ``address``, ``number``, or ``ask``, which
        is a question mark.
    """

    text: str
    kind: str


def read(text: str) -> tuple[Language, str, list[Word]]:
    """The language, the text that was looked at, and its words.

    Of a long text only its beginning and its end count: what is wanted stands there, what was pasted between.
    """
    cut = text if len(text) <= HEAD_CHARS + TAIL_CHARS else f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
    plain = unicodedata.normalize("NFKC", without_addresses(cut, f" {_ADDRESS_MARK} ")).lower()
    plain = _GAP_IN_CHINESE.sub("", plain).replace("’", "'").strip()
    chinese = re.search(rf"[{_CJK}]", plain) is not None
    shown = plain.replace(_ADDRESS_MARK, "")
    return ("zh" if chinese else "en"), shown, list(_words(plain, chinese))


def _words(plain: str, chinese: bool) -> Iterator[Word]:
    for match in _PIECE.finditer(plain):
        kind, piece = match.lastgroup, match.group()
        if kind == "cjk":
            yield from _joined(_split_chinese(piece))
        elif kind == "latin":
            yield from _latin(piece, chinese)
        elif kind is not None:
            yield Word(piece, kind)


def _latin(word: str, chinese: bool) -> Iterator[Word]:
    kind = _lexicon("en").get(word)
    if chinese:
        yield Word(word, kind if kind in ("greet", "yes") else "name")
    elif kind is None and "-" in word and not word.startswith("-"):
        parts = [_lexicon("en").get(part, "name") for part in word.split("-")]
        yield Word(word, "name" if "name" in parts else parts[-1])
    else:
        yield Word(word, kind or "name")


def _split_chinese(run: str) -> Iterator[Word]:
    """The longest listed word at each place; the rest one by one as names."""
    lexicon = _lexicon("zh")
    at = 0
    while at < len(run):
        for length in range(min(_LONGEST, len(run) - at), 0, -1):
            piece = run[at : at + length]
            kind = lexicon.get(piece)
            if kind is not None:
                break
        else:
            kind = "number" if piece in _NUMERALS else "name"
        yield Word(piece, kind)
        at += len(piece)


def _joined(words: Iterator[Word]) -> Iterator[Word]:
    """Neighbouring characters of a name as one word, with the common ones among them (大, 周)."""
    held: list[Word] = []
    for word in words:
        if word.kind == "name" or (len(word.text) == 1 and word.kind in _JOINS_A_NAME):
            held.append(word)
            continue
        yield from _flush(held)
        held = []
        yield word
    yield from _flush(held)


def _flush(held: list[Word]) -> Iterator[Word]:
    if any(word.kind == "name" for word in held):
        yield Word("".join(word.text for word in held), "name")
    else:
        yield from held


@cache
def _lexicon(language: Language) -> Mapping[str, str]:
    text = files("server.agent.dependence").joinpath("words.toml").read_text(encoding="utf-8")
    tables: dict[str, str] = tomllib.loads(text)[language]
    return {word: kind for kind, words in tables.items() for word in words.split()}
