"""Plans the web calls of a turn, step by step. No I/O.

A search has its step to itself among web calls: what a model fetches beside it was chosen without the
results. Such fetches are put off, and their addresses are offered to the next step together with those that
were found.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from tools.contract import Findings
from tools.web.address import normalise

SEARCH: Final = "tool__web_search"
FETCH: Final = "tool__web_fetch"
MAX_CANDIDATES: Final = 20


class WebCall(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def arguments(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to become of one call; ``reason`` is for the tool model, "" when it runs."""

    verdict: Literal["run", "deferred", "refused"]
    reason: str = ""


RUN: Final = Decision("run")
_DEFERRED: Final = Decision(
    "deferred",
    "the search has this step to itself; fetch in the next, out of the addresses that are listed then.",
)
_TWICE: Final = Decision("refused", "the same call stands in this step already.")
_READ: Final = Decision("refused", "this page was read in this turn; its text is above.")


class WebMachine:
    """One turn's.

    Args:
        max_searches, max_fetches: how many of each are run; one that fails counts too.
        known: gives the addresses that may be fetched; only those are offered. None = every one is.
    """

    def __init__(
        self, max_searches: int, max_fetches: int, known: Callable[[], Collection[str]] | None = None
    ) -> None:
        self._left = {SEARCH: max_searches, FETCH: max_fetches}
        self._most = dict(self._left)
        self._known = known
        self._deferred: dict[str, None] = {}
        self._found: dict[str, None] = {}
        self._asked: dict[str, int] = {}
        self._read: set[str] = set()

    def plan(self, calls: Sequence[WebCall]) -> list[Decision]:
        """What becomes of the calls of one step, in their order. Calls of other tools run."""
        seen: set[tuple[str, str]] = set()
        decisions: dict[int, Decision] = {}
        searching = False
        for name in (SEARCH, FETCH):
            for place, call in enumerate(calls):
                if call.name != name:
                    continue
                subject = _subject(call)
                if (name, subject) in seen:
                    decisions[place] = _TWICE
                    continue
                seen.add((name, subject))
                decisions[place] = self._fetch(call, searching) if name == FETCH else self._spend(SEARCH)
                searching = searching or (name == SEARCH and decisions[place] == RUN)
        return [decisions.get(place, RUN) for place in range(len(calls))]

    def learn(self, name: str, findings: Findings) -> None:
        """Takes in what a call that succeeded has found."""
        if name == SEARCH:
            urls = [normalise(hit.url) for hit in findings.search] or [
                normalise(url) for url in findings.urls
            ]
            self._found |= dict.fromkeys(url for url in urls if url is not None)
        elif name == FETCH and findings.fetched is not None:
            self._read.add(normalise(findings.fetched) or findings.fetched)

    def candidates(self) -> list[str]:
        """Addresses to offer to the next step: those put off, then those found, none that was asked for."""
        offered = [url for url in self._deferred | self._found if url not in self._asked]
        if self._known is not None:
            known = self._known()
            offered = [url for url in offered if url in known]
        return offered[:MAX_CANDIDATES]

    def _fetch(self, call: WebCall, searching: bool) -> Decision:
        url, length = _subject(call), _length(call)
        if url in self._read and length <= self._asked.get(url, 0):
            return _READ
        if searching:
            if normalise(url) is not None:
                self._deferred[url] = None
            return _DEFERRED
        decision = self._spend(FETCH)
        if decision == RUN:
            self._asked[url] = max(length, self._asked.get(url, 0))
        return decision

    def _spend(self, name: str) -> Decision:
        if self._left[name] > 0:
            self._left[name] -= 1
            return RUN
        what = "searches" if name == SEARCH else "pages"
        return Decision(
            "refused",
            f"the {self._most[name]} {what} of this turn are used up; answer with what is there.",
        )


def _subject(call: WebCall) -> str:
    """What makes a call the same as another: the address, or the words searched for."""
    if call.name == FETCH:
        url = str(call.arguments.get("url", ""))
        return normalise(url) or normalise(f"https://{url}") or url
    return " ".join(str(call.arguments.get("query", "")).casefold().split())


def _length(call: WebCall) -> int:
    """How much of a page is wanted; 0 = what is usual."""
    length = call.arguments.get("max_chars")
    return length if isinstance(length, int) else 0
