"""What can be seen of a message: features for the linear model, and the signals that ``reasons`` name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from server.agent.dependence.words import Language, Word, read

_NAMES: Final = frozenset(("name", "quoted", "address"))
_NOUNS: Final = _NAMES | {"role", "thing"}
_QUESTIONS: Final = frozenset(("what", "who", "where", "when", "how", "why", "count"))
_SUBJECTS: Final = _NOUNS | {"self", "other", "pointer", "number", "time"}
_LIGHT_AT_END: Final = frozenset(("end", "ask", "very", "adverb"))
_SIZES: Final = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 21, 27, 35, 50)
_NAME_SIZES: Final = (0, 1, 2, 3, 4, 5, 6, 8, 11, 15)
_MAX_GRAMS: Final = 60
_OVER_AGAIN: Final = re.compile(
    r"(?:再|重新)[\u4e00-\u9fff]{1,8}(?:一次|一遍|一回|一下)(?:吧|呗|吗|好吗|可以吗|行吗)?[。.!！?？~～]*$"
)
_INDEX: Final = re.compile(
    r"第[一二三四五六七八九十\d]{1,3}(?:个|段|条|点|步|行|种|句|项|题|张|部分)|最后一?(?:个|段|条|点|句|步|行|种|项|张)"
    r"|前[两三几]个|选[a-d]\b|\b(?:option|number) (?:[a-d]|\d|one|two|three)\b"
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A message as the scorer sees it.

    Attributes:
        features: of the linear model; each counts once.
        signals: what ``reasons`` may name, strongest kinds first.
        lone_name: it is one Latin word that is no common one (``git``).
        answer: it is a confirmation or a choice, and nothing else.
        size: Chinese characters, and two for any other word.
    """

    language: Language
    features: frozenset[str]
    signals: Sequence[str]
    lone_name: bool
    answer: bool
    size: int


def see(text: str) -> Seen:
    language, plain, words = read(text)
    size = sum(_size(word) for word in words if word.kind != "ask")
    signals = [*_phrases(plain), *_signals(words, size)]
    features = {f"{language}:{feature}" for feature in _features(plain, words, size, signals)}
    return Seen(language, frozenset(features), signals, _is_lone_name(words), _is_answer(words), size)


def _size(word: Word) -> int:
    return len(word.text) if not word.text.isascii() else 2


def _features(plain: str, words: Sequence[Word], size: int, signals: Sequence[str]) -> Iterator[str]:
    kinds = [word.kind for word in words]
    names = sum(_size(word) for word in words if word.kind in _NAMES)
    nouns = sum(1 for kind in kinds if kind in _NOUNS)
    size_bin, name_bin = _bin(size, _SIZES), _bin(names, _NAME_SIZES)
    yield "bias"
    yield f"size {size_bin}"
    yield f"names {name_bin}"
    yield f"nouns {min(nouns, 4)}"
    yield f"size {size_bin // 3} names {name_bin // 2}"
    yield f"names {min(name_bin, 3)} nouns {min(nouns, 3)}"
    # The model learns slopes too: each threshold passed is a feature, so that a rare size isn't alone.
    yield from (f"size over {bound}" for bound in _SIZES if size > bound)
    yield from (f"names over {bound}" for bound in _NAME_SIZES if names > bound)
    for signal in signals:
        yield f"signal {signal}"
        yield f"signal {signal} names {min(name_bin, 3)}"
    row = ["^", *kinds[:_MAX_GRAMS], "$"]
    for kind in set(kinds):
        yield f"kind {kind}"
        yield f"kind {kind} nouns {min(nouns, 2)}"
    yield from (f"kinds {' '.join(row[at : at + 2])}" for at in range(len(row) - 1))
    yield from (f"kinds {' '.join(row[at : at + 3])}" for at in range(len(row) - 2))
    if len(row) <= 7:
        yield f"all {' '.join(row)}"
    for word in words[:_MAX_GRAMS]:
        if word.kind not in _NAMES:
            yield f"word {word.text}"
    said = [word.text if word.kind not in _NAMES else f"<{word.kind}>" for word in words[:_MAX_GRAMS]]
    said = ["^", *said, "$"]
    yield from (f"words {' '.join(said[at : at + 2])}" for at in range(len(said) - 1))
    chars = plain[:_MAX_GRAMS]
    yield from (f"char {char}" for char in chars if not char.isascii())
    pairs = map("".join, pairwise(chars))
    yield from (f"chars {pair}" for pair in pairs if not pair.isascii())


def _bin(value: int, bounds: Sequence[int]) -> int:
    return sum(1 for bound in bounds if value > bound)


def _phrases(plain: str) -> Iterator[str]:
    """Constructions that no single word shows."""
    if _OVER_AGAIN.search(plain):
        yield "asks to do it over"
    if _INDEX.search(plain):
        yield "choice or index"


def _signals(words: Sequence[Word], size: int) -> Iterator[str]:
    """Named observations; those that speak for a self-contained message are in ``SPEAKS_AGAINST``."""
    kinds = [word.kind for word in words]
    has = frozenset(kinds)
    core = [kind for kind in kinds if kind not in _LIGHT_AT_END]
    if "other" in has:
        yield "pronoun"
    if _bare_pointer(kinds):
        yield "pointing word"
    elif "pointer" in has:
        yield "pointing word with a noun"
    if "back" in has:
        yield "refers back"
    if "again" in has:
        yield "asks for more of it"
    if core and core[0] == "then":
        yield "begins with a connective"
    if "yes" in has:
        yield "confirmation or reply"
    if "if" in has and "if" in kinds[:1]:
        yield "begins with a condition"
    if not has & _NOUNS:
        yield "names nothing"
    elif not has & _NAMES:
        yield "names nothing of its own"
    if size <= 6:
        yield "short"
    if core and core[-1] in ("take", "can", "not", "be"):
        yield "verb without its object"
    if core and core[0] not in _SUBJECTS and not has & _NAMES:
        yield "no subject"
    if has & _QUESTIONS and not has & (_NOUNS | {"self", "other", "pointer", "time"}):
        yield "bare question"
    if "role" in has and not has & _NAMES:
        yield "part of something unnamed"
    if "greet" in has:
        yield "greeting"
    if "address" in has:
        yield "explicit address"
    if "quoted" in has:
        yield "quoted name"
    if size > 20:
        yield "long"
    if "self" in has and not has & {"other", "pointer", "back"}:
        yield "speaks of you or me"


SPEAKS_AGAINST: Final = frozenset(
    ("greeting", "explicit address", "quoted name", "long", "speaks of you or me")
)


def _bare_pointer(kinds: Sequence[str]) -> bool:
    """A pointing word that no noun follows."""
    return any(
        kind == "pointer" and not (set(kinds[at + 1 : at + 3]) & _NOUNS) for at, kind in enumerate(kinds)
    )


def _is_lone_name(words: Sequence[Word]) -> bool:
    return len(words) == 1 and words[0].kind == "name" and words[0].text.isascii()


def _is_answer(words: Sequence[Word]) -> bool:
    spoken = [word for word in words if word.kind not in ("end", "ask")]
    if words and len(spoken) <= 4 and {word.kind for word in spoken} <= {"yes", "back", "number", "again"}:
        return True
    return len(spoken) == 1 and spoken[0].kind in ("not", "can")
