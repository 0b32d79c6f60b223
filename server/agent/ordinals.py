"""Words that count within a list: "the second one", "result 3", "the first two", 第二个, 最后一个."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    *("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th"),
)
_CARDINALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_EN_ORDINALS: Final = {word: at % 10 + 1 for at, word in enumerate(_ORDINALS)}
_EN_CARDINALS: Final = {word: number for number, word in enumerate(_CARDINALS, start=1)}
_ZH_DIGITS: Final = {char: number for number, char in enumerate("零一二三四五六七八九")} | {"两": 2}

_NTH = "|".join(_ORDINALS)
_CARDINAL = rf"\d{{1,2}}|{'|'.join(_CARDINALS)}"
_EN_ITEM = (
    r"(?:search\s+)?(?:ones?|results?|links?|hits?|items?|options?|entr(?:y|ies)|articles?|pages?|sites?"
    r"|choices?|matches)\b(?!\s+of\s+(?:the\s+)?(?:list|array|loop))"
)
_EN_STOPS = r"\s*(?:[?.!,;:]|$)"
# "the second" alone names a result only where the clause or the pair ends; "in a second" never does.
_EN_ORDINAL: Final = re.compile(
    rf"(?i)\b(?:the\s+(?:very\s+)?(?P<alone>{_NTH})(?={_EN_STOPS}|\s+and\b|\s+or\b)"
    rf"|(?:and|or)\s+(?:the\s+)?(?P<paired>{_NTH})(?={_EN_STOPS})"
    rf"|(?P<nth>{_NTH})\s+{_EN_ITEM})"
)
_EN_LAST: Final = re.compile(
    r"(?i)\bthe\s+(?:very\s+)?(?P<place>second[\s-]+(?:to|from)[\s-]+last|next[\s-]+to[\s-]+last|last|final|bottom)"
    rf"(?:\s+(?:search\s+)?(?:one|result|hit|item|option|entry|choice|match)\b|(?={_EN_STOPS}))"
)
_EN_FEW: Final = re.compile(
    r"(?i)\bthe\s+(?P<end>first|top|last)\s+(?P<count>two|three|four|five|[2-9])"
    rf"(?:\s+{_EN_ITEM}|(?={_EN_STOPS}))"
)
_EN_NUMBER: Final = re.compile(
    rf"(?i)(?:\b(?:number|no\.|result|hit|link|option|item|choice)\s*#?\s*|(?<![\w#&/])#)(?P<number>{_CARDINAL})\b"
    r"(?!\s*(?:times|%|px|ms|pm|am)|[.:/]\d)"
)

_ZH_UNIT = "个条篇项则"
_ZH_ITEM = "搜索结果|结果|链接|网页|网站|页面|文章|新闻|选项|网址|帖子"
# 第二个 with a noun of its own (第二个函数) is something else; with a word that goes on, it is the result.
_ZH_GOES_ON = (
    rf"(?=(?:{_ZH_ITEM})|\s*(?:$|[，。！？；、,.!?;:：~～…)）]"
    r"|[的是呢吧吗啊呀和跟与或及也再能可给帮打点看读讲说有里怎为多会要靠更最比不没就还都在太像如对行好把请了哪]))"
)
_ZH_NUMBER = r"[零一二两三四五六七八九十]{1,3}|\d{1,2}"
_ZH_NTH: Final = re.compile(rf"(?P<back>倒数)?第\s?(?P<number>{_ZH_NUMBER})\s?[{_ZH_UNIT}]{_ZH_GOES_ON}")
_ZH_LAST: Final = re.compile(rf"最后(?:面|边)?的?(?:那|这)?一?[{_ZH_UNIT}]{_ZH_GOES_ON}")
_ZH_FEW: Final = re.compile(rf"(?P<end>前|后)面?(?P<count>[两二三四五2-9])[{_ZH_UNIT}]{_ZH_GOES_ON}")


def places(text: str, count: int) -> Iterator[tuple[int, int]]:
    """Where ``text`` counts, and the place that it means in a list of ``count`` items, from 0.

    A place may lie outside the list.
    """
    yield from _english(text, count)
    yield from _chinese(text, count)
    for pattern in (_EN_FEW, _ZH_FEW):
        for match in pattern.finditer(text):
            size = _number(match["count"])
            begin = max(0, count - size) if match["end"].lower() in ("last", "后") else 0
            yield from ((match.start(), place) for place in range(begin, begin + size))


def _english(text: str, count: int) -> Iterator[tuple[int, int]]:
    for match in _EN_ORDINAL.finditer(text):
        word = match["alone"] or match["paired"] or match["nth"]
        yield match.start(), _EN_ORDINALS[word.lower()] - 1
    for match in _EN_LAST.finditer(text):
        yield match.start(), count - (1 if match["place"].lower() in ("last", "final", "bottom") else 2)
    for match in _EN_NUMBER.finditer(text):
        yield match.start(), _number(match["number"]) - 1


def _chinese(text: str, count: int) -> Iterator[tuple[int, int]]:
    for match in _ZH_NTH.finditer(text):
        number = _number(match["number"])
        yield match.start(), count - number if match["back"] else number - 1
    for match in _ZH_LAST.finditer(text):
        yield match.start(), count - 1


def _number(text: str) -> int:
    """The number that 十二, 二十, 12 or "two" means; 0 for none."""
    if text.isdecimal():
        return int(text)
    if text.isascii():
        return _EN_CARDINALS[text.lower()]
    tens, ten, ones = text.rpartition("十")
    if ten:
        return (_ZH_DIGITS.get(tens, 0) if tens else 1) * 10 + (_ZH_DIGITS.get(ones, 0) if ones else 0)
    return _ZH_DIGITS.get(text, 0)
