"""Where a search goes: four services behind one form.

Their addresses are the owner's own words in lab.toml, not a model's: a SearXNG on this machine is reached
like any other. A key goes to its own service only, so redirects aren't followed.
"""

from __future__ import annotations

import asyncio
import html
import importlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tools.contract import ToolFailure
from tools.threads import run_blocking
from tools.web.address import BadAddress, target_of
from tools.web.networks import kind_of_host

TAVILY: Final = "https://api.tavily.com"
BRAVE: Final = "https://api.search.brave.com/res/v1/web"
TIME_S: Final = 7.0
_MAX_ANSWER: Final = 2_000_000
_KEY_REFUSED: Final = frozenset({401, 403})
_SPENT: Final = frozenset({429, 432, 433})  # the last two are Tavily's own
_TAGS: Final = re.compile(r"<[^<>]{0,200}>")
_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_KANA: Final = re.compile(r"[\u3040-\u30ff]")


@dataclass(frozen=True, slots=True)
class Hit:
    """One result as a service gives it; its address isn't checked yet."""

    title: str
    url: str
    snippet: str


class SearchProvider(Protocol):
    """A service that searches the web."""

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        """At most about ``limit`` results, the best first; none is an empty answer.

        Raises:
            ToolFailure: it can't be reached, refuses, or answers nonsense.
        """


@dataclass(frozen=True, slots=True)
class SearxNg:
    url: str
    time_s: float = TIME_S

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        status, answer = await _ask(
            "SearXNG", f"{_base(self.url)}/search", self.time_s, params={"q": query, "format": "json"}
        )
        if status == 403 or (status == 200 and answer is None):
            raise ToolFailure(
                "SearXNG gives no JSON. Its owner must add json to search.formats in its settings.yml."
            )
        results = _list(_checked("SearXNG", status, answer), "results")
        return [_hit(entry, "title", "url", "content") for entry in results[:limit]]


@dataclass(frozen=True, slots=True)
class Tavily:
    key: str = field(repr=False)
    url: str = TAVILY
    time_s: float = TIME_S

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        status, answer = await _ask(
            "Tavily",
            f"{_base(self.url)}/search",
            self.time_s,
            headers={"Authorization": f"Bearer {self.key}"},
            json={"query": query, "max_results": limit, "search_depth": "basic"},
        )
        results = _list(_checked("Tavily", status, answer), "results")
        return [_hit(entry, "title", "url", "content") for entry in results[:limit]]


@dataclass(frozen=True, slots=True)
class Brave:
    key: str = field(repr=False)
    url: str = BRAVE
    time_s: float = TIME_S

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        status, answer = await _ask(
            "Brave",
            f"{_base(self.url)}/search",
            self.time_s,
            headers={"X-Subscription-Token": self.key},
            params={"q": query, "count": str(limit)},
        )
        if status == 422 and "TOKEN" in json.dumps(answer)[:2000].upper():
            status = 401
        web = _checked("Brave", status, answer).get("web")
        results = _list(web if isinstance(web, dict) else {}, "results")
        return [_hit(entry, "title", "url", "description") for entry in results[:limit]]


@dataclass(frozen=True, slots=True)
class Ddgs:
    """Several public search pages, without a key. Its requests can't be broken off; they end by themselves.

    Args:
        proxy: for its requests; None = that of the environment, if any.
    """

    proxy: str | None = None
    time_s: float = TIME_S

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        try:
            async with asyncio.timeout(self.time_s):
                results = await run_blocking(lambda: self._search(query, limit), "web search")
        except TimeoutError as error:
            raise ToolFailure("The search took too long.") from error
        return [_hit(entry, "title", "href", "body") for entry in results]

    def _search(self, query: str, limit: int) -> list[dict[str, Any]]:
        ddgs: Any = importlib.import_module("ddgs")
        failures: Any = importlib.import_module("ddgs.exceptions")
        region = "jp-jp" if _KANA.search(query) else "cn-zh" if _HAN.search(query) else "us-en"
        try:
            engine = ddgs.DDGS(proxy=self.proxy, timeout=max(1, int(self.time_s) - 2))
            found: list[dict[str, Any]] = engine.text(query, max_results=limit, region=region)
        except failures.RatelimitException as error:
            raise ToolFailure("The public search pages want no more searches for now.") from error
        except failures.TimeoutException as error:
            raise ToolFailure("The public search pages didn't answer in time.") from error
        except failures.DDGSException as error:
            if "no results" in str(error).lower():
                return []
            raise ToolFailure("The public search pages can't be reached.") from error
        except Exception as error:  # it passes on whatever its HTTP client and parsers raise
            raise ToolFailure("The public search pages gave nothing that can be read.") from error
        return found


async def _ask(name: str, url: str, time_s: float, *, method: str = "GET", **request: Any) -> tuple[int, Any]:
    """The status and the JSON of the answer, None where it is none.

    Raises:
        ToolFailure: no answer.
    """
    httpx2: Any = await asyncio.to_thread(importlib.import_module, "httpx2")
    method = "POST" if "json" in request else method
    try:
        async with (
            asyncio.timeout(time_s),
            httpx2.AsyncClient(timeout=time_s, follow_redirects=False, trust_env=not _near(url)) as client,
            client.stream(method, url, **request) as response,
        ):
            body = bytearray()
            async for block in response.aiter_bytes(65_536):
                body += block
                if len(body) > _MAX_ANSWER:
                    raise ToolFailure(f"{name} answered more than can be read.")
    except (TimeoutError, httpx2.TimeoutException) as error:
        raise ToolFailure(f"{name} didn't answer within {time_s:g} s.") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise ToolFailure(f"{name} can't be reached.") from error
    if response.status_code == 429:
        wait = response.headers.get("retry-after", "")
        later = f" It asks to wait {wait} s." if wait.isascii() and wait.isdigit() and len(wait) < 7 else ""
        raise ToolFailure(f"{name} wants no more searches for now (HTTP 429).{later}")
    try:
        return response.status_code, json.loads(bytes(body))
    except (ValueError, RecursionError):
        return response.status_code, None


def _checked(name: str, status: int, answer: Any) -> Mapping[str, Any]:
    if status in _KEY_REFUSED:
        raise ToolFailure(f"{name} refuses its key (HTTP {status}); the owner must set another one.")
    if status in _SPENT:
        raise ToolFailure(f"{name} has no searches left in its plan (HTTP {status}).")
    if 300 <= status < 400:
        raise ToolFailure(f"{name} has moved (HTTP {status}); its address in lab.toml must be the final one.")
    if status != 200:
        raise ToolFailure(f"{name} answered HTTP {status}.")
    if not isinstance(answer, dict):
        raise ToolFailure(f"{name} answered nothing that can be read.")
    return answer


def _list(answer: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = answer.get(name)
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _hit(entry: Mapping[str, Any], title: str, url: str, snippet: str) -> Hit:
    return Hit(_clean(entry.get(title), 150), str(entry.get(url) or ""), _clean(entry.get(snippet), 400))


def _clean(value: object, limit: int) -> str:
    """One line without markup."""
    text = html.unescape(_TAGS.sub("", value[:5000])) if isinstance(value, str) else ""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def _base(url: str) -> str:
    return url.rstrip("/").removesuffix("/search")


def _near(url: str) -> bool:
    """Whether a proxy of the environment would be asked for something that lies on this side of it."""
    try:
        return kind_of_host(target_of(url).host) is not None
    except BadAddress:
        return False
