r"""Finds tokens in a stream of Markdown, but only outside code.

Hidden markers and thinking tags are both looked for here, so that a reply which explains them in
code keeps them. Only what may still become a token is held back; the rest passes at once, and the
result is the same however the stream is cut.

What counts as code (CommonMark, made decidable in a stream):

- A fence is a line of at most 32 leads (blanks, ``>``, list bullets, tokens, which get removed) and
  3 to 64 backticks or tildes. It ends with a line of as many or more, or with the stream.
- Inline code is a run of 1 to 64 backticks up to an equal run that begins in the same line and
  within 400 characters. Without one, the opening run is plain text. An escaped backtick opens nothing.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, TypeAlias

Found: TypeAlias = "str | re.Match[str]"
"""Text that passes, or a token that stood outside code."""

_REACH: Final = 400
LONGEST_RUN: Final = 64
LEAD: Final = r"[ \t]|>|[-*+][ \t]|[0-9]{1,9}[.)][ \t]"
_LEAD_SO_FAR: Final = r"[0-9]{1,9}[.)]?|[-*+]|~~?"
_MAX_LEADS: Final = 32
_RUN: Final = re.compile("``*")
_ESCAPE: Final = 2
_UNDECIDED: Final = -1
_PLAIN: Final = -2
_FENCE: Final = -3


class CodeAware:
    """Splits a stream into text and tokens.

    Args:
        first: the character that tokens begin with.
        token: regular expression of a whole token, ``first`` included; spans no lines.
        beginning: one of every proper beginning of a token.
        longest: characters of the longest token.
        halt: a group of ``token``. A token with that group ends the scan: :attr:`rest` is what was
            not read, and the next scan begins afresh, as at the start of a line.
    """

    def __init__(self, first: str, token: str, beginning: str, longest: int, *, halt: str = "") -> None:
        # Every branch begins with a literal: that lets `re` skip plain text quickly. The first one is
        # a short cut for the usual inline code; the empty groups tell the branches apart.
        self._stop = re.compile(rf"`[^`\n]{{1,{_REACH - 1}}}`(?=[^`])()|\\[\\`]()|``*|~~~+|{token}()")
        self._alert = re.compile(rf"[`~\\\n{re.escape(first)}]")
        self._token = re.compile(token)
        self._beginning = re.compile(rf"(?:{beginning})\Z")
        leads = rf"\n(?:{LEAD}|{re.sub(r'[(][?]P<[a-z]+>', '(?:', token)}){{0,{_MAX_LEADS}}}"
        self._leads = re.compile(leads)
        self._leads_so_far = re.compile(rf"{leads}(?:{_LEAD_SO_FAR})?")
        self._longest_leads = (_MAX_LEADS + 1) * max(longest, 11)
        self._longest = longest
        self._halt = halt
        self.rest = ""
        self._start_afresh()

    def _start_afresh(self) -> None:
        # What the next characters may still decide about; its first `_passed` characters are out.
        # A line's start is told by the line end before it, so the stream begins with one.
        self._tail = "\n"
        self._passed = 1
        self._fence: tuple[str, int] | None = None

    def scan(self, text: str, *, final: bool = False) -> list[Found]:
        """Reads on. With ``final`` all is decided; :attr:`rest` is then a token's beginning at the very
        end, if there is one."""
        if not (self._tail or final or self._alert.search(text)):
            return [text] if text else []
        self.rest = ""
        return self._scan(self._tail + text, self._passed, final)

    def _scan(self, buffer: str, passed: int, final: bool) -> list[Found]:
        found: list[Found] = []
        at = 0
        while True:
            if self._fence:
                at = self._after_fence(buffer, at, final)
                if at == _UNDECIDED:
                    return self._keep(found, buffer, passed, len(buffer), self._fence_line(buffer))
                self._fence = None
            stop = self._stop.search(buffer, at)
            if stop is None:
                return self._finish(found, buffer, passed, at, final)
            begin, at = stop.span()
            if stop.lastindex is None:
                after = self._after_run(buffer, begin, at, final)
                if after == _UNDECIDED:
                    line = self._line_of(buffer, begin)
                    hold = self._first_token(buffer, at)
                    keep = max(begin, at - LONGEST_RUN - 1) if line < 0 or at - begin > LONGEST_RUN else line
                    return self._keep(found, buffer, passed, hold, keep)
                if after == _FENCE:
                    self._fence = (buffer[begin], at - begin)
                elif after != _PLAIN:
                    at = after
            elif stop.lastindex > _ESCAPE and at > passed:
                if begin > passed:
                    found.append(buffer[passed:begin])
                found.append(stop)
                passed = at
                if self._halt and stop[self._halt]:
                    self._start_afresh()
                    self.rest = buffer[at:]
                    return found

    def _after_run(self, buffer: str, begin: int, end: int, final: bool) -> int:
        """What a run of backticks or tildes opens: the end of its inline code, or one of the constants."""
        size = end - begin
        if end == len(buffer) and not final:
            return _UNDECIDED
        if size > LONGEST_RUN:
            return _PLAIN
        may_fence = size >= 3 and self._line_of(buffer, begin) >= 0
        if buffer[begin] == "~":
            return _FENCE if may_fence else _PLAIN
        limit = end + _REACH
        line_end = buffer.find("\n", end, limit)
        for run in _RUN.finditer(buffer, end, limit + LONGEST_RUN + 1 if line_end < 0 else line_end):
            first, last = run.span()
            if first >= limit:
                break
            if last == len(buffer) and last - first <= LONGEST_RUN and not final:
                return _UNDECIDED
            if last - first == size:
                return last
            may_fence = False
        if line_end < 0 and len(buffer) < limit and not final:
            return _UNDECIDED
        return _FENCE if may_fence else _PLAIN

    def _after_fence(self, buffer: str, at: int, final: bool) -> int:
        assert self._fence
        closing = closing_fence(*self._fence)[0].search(buffer, at)
        if closing and (final or closing.end() < len(buffer)):
            return closing.end()
        return len(buffer) if final else _UNDECIDED

    def _fence_line(self, buffer: str) -> int:
        """Where the last line begins if it may still close the fence, else the buffer's end."""
        assert self._fence
        line = buffer.rfind("\n")
        if line >= 0 and closing_fence(*self._fence)[1].fullmatch(buffer, line):
            return line
        return len(buffer)

    def _line_of(self, buffer: str, begin: int) -> int:
        """Where the line begins in which only leads stand before ``begin``, else -1."""
        line = buffer.rfind("\n", max(0, begin - self._longest_leads), begin)
        return line if line >= 0 and self._leads.fullmatch(buffer, line, begin) else -1

    def _first_token(self, buffer: str, at: int) -> int:
        """Where the first token after ``at`` begins, even one that isn't complete; else the buffer's end."""
        first = self._token.search(buffer, at) or self._last_beginning(buffer, at)
        return first.start() if first else len(buffer)

    def _last_beginning(self, buffer: str, at: int) -> re.Match[str] | None:
        return self._beginning.search(buffer, max(at, len(buffer) - self._longest))

    def _finish(self, found: list[Found], buffer: str, passed: int, at: int, final: bool) -> list[Found]:
        """Everything from ``at`` on is plain text, except for what the next characters may add."""
        beginning = self._last_beginning(buffer, at)
        hold = beginning.start() if beginning else len(buffer)
        if final:
            self._keep(found, buffer, passed, hold, hold)
            self._start_afresh()
            self.rest = buffer[hold:]
            return found
        keep = hold - 1 if hold > at and beginning is None and buffer[-1] == "\\" else hold
        line = buffer.rfind("\n", max(0, hold - self._longest_leads), hold)
        if line >= 0 and self._leads_so_far.fullmatch(buffer, line, hold):
            keep = line
        return self._keep(found, buffer, passed, hold, keep)

    def _keep(self, found: list[Found], buffer: str, passed: int, hold: int, keep: int) -> list[Found]:
        """Lets the text up to ``hold`` pass, and remembers the buffer from ``keep`` on."""
        if hold > passed:
            found.append(buffer[passed:hold])
        self._tail = buffer[keep:]
        self._passed = max(hold, passed) - keep
        return found


def beginnings(*words: str) -> str:
    """A regular expression of every proper beginning of ``words``."""
    return "|".join(map(re.escape, sorted({word[:size] for word in words for size in range(1, len(word))})))


@cache
def closing_fence(kind: str, size: int) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The line that closes a fence, with the line end before it; and any beginning of such a line."""
    blank = r"[ \t\r]{0,64}"
    lead = r"\n[ \t>]{0,32}"
    return (
        re.compile(rf"{lead}{kind}{{{size},{LONGEST_RUN}}}{blank}(?=\n|\Z)"),
        re.compile(rf"{lead}{kind}{{0,{LONGEST_RUN}}}{blank}"),
    )
