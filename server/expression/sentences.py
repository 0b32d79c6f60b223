"""Cuts a streamed reply into finished sentences for speech, Chinese and English.

A sentence ends at 。！？…；, at a line end, or at .!? before a blank or a Chinese character, together
with its closing quotes and brackets. Fenced code isn't spoken. A sentence comes as soon as what
follows shows that it is over, and the same ones come however the stream is cut. Longer than 300
characters without an end, it is cut at a comma or a blank. What they look like aloud is
:mod:`server.expression.speech`'s concern.
"""

from __future__ import annotations

import re
from typing import Final

from server.expression.code import LEAD, LONGEST_RUN, closing_fence
from server.expression.speech import spoken

_LONGEST: Final = 300
_CODE_REACH: Final = 120
_INFO_REACH: Final = 400
_INFO_END: Final = re.compile(r"[`\n]")

_STOP: Final = re.compile(r"[\n`。！？!?…；.]")
_END: Final = re.compile(r"""([。！？!?…；.]{1,16})["'”’»」』）)\]】》〉*_~]{0,8}""")
_WIDE_ENDS: Final = frozenset("。！？…；")
_CHINESE: Final = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef“‘]")
_WORD: Final = re.compile(r"[\w.]*\Z")
_NEXT: Final = re.compile(r"\s{1,8}(\S)")
_RUN: Final = re.compile(f"`{{1,{LONGEST_RUN}}}")
_COMMA: Final = re.compile(r"[，、：—]|[,:;](?=\s)")
_BLANK: Final = re.compile(r"\s")

_LEADS: Final = rf"\n(?:{LEAD}){{0,32}}"
_FENCE: Final = re.compile(rf"{_LEADS}(`{{3,{LONGEST_RUN}}}(?!`)|~{{3,{LONGEST_RUN}}}(?!~))")
_MAYBE_FENCE: Final = re.compile(
    rf"{_LEADS}(?:[0-9]{{1,9}}[.)]?|[-*+]|`{{1,{LONGEST_RUN}}}|~{{1,{LONGEST_RUN}}})?"
)

_NEVER_LAST: Final = re.compile(r"e\.g|i\.e|mrs?|ms|dr|prof|st|vs|cf|fig|eq|ca|resp|viz")
_SELDOM_LAST: Final = re.compile(
    r"etc|inc|ltd|co|corp|jr|sr|al|approx|dept|est|vol|pp|nos?|(?:[a-z]\.)+[a-z]",
)


class SentenceSplitter:
    """Reads a reply's visible text piece by piece."""

    def __init__(self) -> None:
        # A line's start is told by the line end before it, so the reply begins with one.
        self._buffer = "\n"
        self._begin = 0
        self._at = 0
        self._line_start = True
        self._fence: tuple[str, int] | None = None

    def feed(self, text: str) -> list[str]:
        """The sentences that are over now, ready to be spoken."""
        self._buffer += text
        return self._cut(final=False)

    def close(self) -> list[str]:
        """The reply is over: what is left of it."""
        return self._cut(final=True)

    def _cut(self, *, final: bool) -> list[str]:
        sentences: list[str] = []
        while (end := self._next_end(final)) >= 0:
            sentences.append(spoken(self._buffer[self._begin : end], line_start=self._line_start))
            self._begin = self._at = end
            self._line_start = False
        self._buffer = self._buffer[self._begin :]
        self._at -= self._begin
        self._begin = 0
        return [sentence for sentence in sentences if sentence]

    def _next_end(self, final: bool) -> int:
        """Where the current sentence ends, or -1 while that isn't certain or nothing is left."""
        while self._reach_text(final):
            stop = _STOP.search(self._buffer, self._at, self._begin + _LONGEST)
            if stop is None:
                if len(self._buffer) > self._begin + _LONGEST:
                    return self._cut_place()
                self._at = len(self._buffer)
                return len(self._buffer) if final and self._begin < len(self._buffer) else -1
            self._at = stop.start()
            if stop[0] == "\n":
                return stop.start()
            if stop[0] == "`":
                self._at = self._after_code(stop.start(), final)
                if self._at < 0:
                    self._at = stop.start()
                    return -1
                continue
            end, over = self._judge(stop.start(), final)
            if over is None:
                return -1
            if over:
                return end
            self._at = end
        return -1

    def _reach_text(self, final: bool) -> bool:
        """Goes on to where a sentence can begin: past line ends and fences. False: more is needed."""
        while self._fence or self._buffer.startswith("\n", self._begin):
            if not (self._leave_fence(final) if self._fence else self._enter_line(final)):
                return False
        return True

    def _enter_line(self, final: bool) -> bool:
        if not final and _MAYBE_FENCE.fullmatch(self._buffer, self._begin):
            return False
        if fence := _FENCE.match(self._buffer, self._begin):
            info_end = fence.end() + _INFO_REACH
            end = _INFO_END.search(self._buffer, fence.end(), info_end)
            if fence[1][0] == "`" and end is None and len(self._buffer) < info_end and not final:
                return False
            if fence[1][0] == "~" or end is None or end[0] == "\n":
                self._fence = (fence[1][0], len(fence[1]))
                self._begin = self._at = fence.end()
                return True
        self._begin = self._at = self._begin + 1
        self._line_start = True
        return True

    def _leave_fence(self, final: bool) -> bool:
        assert self._fence
        whole, beginning = closing_fence(*self._fence)
        closing = whole.search(self._buffer, self._begin)
        if closing and (final or closing.end() < len(self._buffer)):
            self._fence = None
            self._begin = self._at = closing.end()
            return True
        line = self._buffer.rfind("\n", self._begin)
        keep = line >= 0 and not final and beginning.fullmatch(self._buffer, line)
        self._begin = self._at = line if keep else len(self._buffer)
        return False

    def _after_code(self, begin: int, final: bool) -> int:
        """Where the inline code at ``begin`` ends, or its opening run if it is none; -1 while uncertain."""
        run = _RUN.match(self._buffer, begin)
        assert run
        length, limit = len(self._buffer), run.end() + _CODE_REACH
        if run.end() == length and not final:
            return -1
        line_end = self._buffer.find("\n", run.end(), limit)
        for closing in _RUN.finditer(
            self._buffer, run.end(), limit + LONGEST_RUN if line_end < 0 else line_end
        ):
            if closing.start() >= limit:
                break
            if closing.end() == length and not final:
                return -1
            if len(closing[0]) == len(run[0]):
                return closing.end()
        return -1 if line_end < 0 and length < limit and not final else run.end()

    def _judge(self, begin: int, final: bool) -> tuple[int, bool | None]:
        """Whether the sentence is over with the signs at ``begin``, and where they end; None: not certain."""
        signs = _END.match(self._buffer, begin)
        assert signs
        end = signs.end()
        after = self._buffer[end : end + 1]
        if not after and not final:
            return end, None
        if not _WIDE_ENDS.isdisjoint(signs[1]):
            return end, True
        if after and not after.isspace() and not _CHINESE.match(after):
            return end, False
        if signs[1] != ".":
            return end, True
        word = _WORD.search(self._buffer, max(self._begin, begin - 24), begin)
        return end, self._may_end_with(word[0] if word else "", begin, end, final)

    def _may_end_with(self, word: str, begin: int, end: int, final: bool) -> bool | None:
        """Whether the full stop at ``begin`` after ``word`` is more than a sign of abbreviation."""
        name = word.lower()
        if _NEVER_LAST.fullmatch(name) or (len(word) == 1 and "A" <= word <= "Z" and word != "I"):
            return False
        if word.isdigit() and self._line_start and self._buffer[self._begin : begin].strip() == word:
            return False
        if not _SELDOM_LAST.fullmatch(name):
            return True
        following = _NEXT.match(self._buffer, end)
        if following is None:
            return (
                None if self._buffer[end:].isspace() and len(self._buffer) < end + 9 and not final else True
            )
        return not (following[1].isdigit() if name in {"no", "nos"} else following[1].islower())

    def _cut_place(self) -> int:
        """Where a text that won't end is cut: at its last comma, else blank, else anywhere."""
        for sign, least in ((_COMMA, _LONGEST // 2), (_BLANK, _LONGEST // 3)):
            ends = [cut.end() for cut in sign.finditer(self._buffer, self._begin, self._begin + _LONGEST)]
            if ends and ends[-1] >= self._begin + least:
                return ends[-1]
        return self._begin + _LONGEST
