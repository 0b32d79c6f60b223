from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from server.config.keys import KeyStore
from server.config.schema import Web
from server.config.store import ConfigStore
from tests.support.calls import Context
from tests.support.website import Asked, Website, answer
from tools.contract import SearchHit, TextPart, ToolFailure, ToolResult
from tools.web import web_tools
from tools.web.providers import Brave, Ddgs, Hit, SearchProvider, SearxNg, Tavily
from tools.web.search import DEFAULT_RESULTS, MAX_RESULTS, WebSearch, chosen_provider

TITLE = "Cats &amp; <strong>dogs</strong>\n together"
FOUND: list[dict[str, Any]] = [
    {
        "title": TITLE,
        "url": "https://Example.com/cats#x",
        "content": "They  purr",
        "description": "They  purr",
    },
    {"title": "", "url": "https://b.example/", "content": None, "description": None},
    {"title": "again", "url": "https://example.com/cats", "content": "", "description": ""},
    {"title": "bad", "url": "javascript:alert(1)", "content": "", "description": ""},
    {"title": "none"},
    {"title": 7, "url": ["x"], "content": {}, "description": {}},
]


def as_json(value: Any, status: int = 200) -> bytes:
    return answer(json.dumps(value), kind="application/json", status=status)


def providers(url: str, time_s: float = 5) -> list[tuple[SearchProvider, bytes]]:
    """Each provider at ``url`` with what it answers there."""
    return [
        (SearxNg(url, time_s), as_json({"results": FOUND, "unresponsive_engines": []})),
        (Tavily("tvly-planted", url, time_s), as_json({"results": FOUND})),
        (Brave("planted", url, time_s), as_json({"web": {"results": FOUND}})),
    ]


WHICH = pytest.mark.parametrize("which", [0, 1, 2], ids=["searxng", "tavily", "brave"])


async def search(provider: SearchProvider, query: str = "cats", **more: Any) -> ToolResult:
    return await WebSearch(lambda: provider).call({"query": query, **more}, Context())


@WHICH
async def test_results_are_numbered_clean_and_each_address_comes_once(site: Website, which: int) -> None:
    provider, body = providers(site.url().rstrip("/"))[which]
    site.pages["/search"] = body
    result = await search(provider)
    (part,) = result.parts
    assert part == TextPart(
        "1. Cats & dogs together\n   https://example.com/cats\n   They purr\n2. https://b.example/\n   https://b.example/"
    )
    assert list(result.findings.urls) == ["https://example.com/cats", "https://b.example/"]
    assert list(result.findings.search) == [
        SearchHit(1, "Cats & dogs together", "https://example.com/cats"),
        SearchHit(2, "https://b.example/", "https://b.example/"),
    ]


async def test_each_service_is_asked_in_its_own_form(site: Website) -> None:
    for provider, body in providers(site.url("/search")):
        site.pages["/search"] = body
        await search(provider, "big cats & 猫", max_results=3)
    searxng, tavily, brave = site.asked
    assert (searxng.method, searxng.target) == ("GET", "/search?q=big+cats+%26+%E7%8C%AB&format=json")
    assert (tavily.method, tavily.headers["authorization"]) == ("POST", "Bearer tvly-planted")
    assert json.loads(tavily.body) == {"query": "big cats & 猫", "max_results": 3, "search_depth": "basic"}
    assert brave.target.endswith("&count=3")
    assert brave.headers["x-subscription-token"] == "planted"


@WHICH
@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (answer("no", status=401), "refuses its key"),
        (
            answer("slow down", status=429, headers={"Retry-After": "9"}),
            r"no more searches for now .*wait 9 s",
        ),
        (answer("oops", status=500), "answered HTTP 500"),
        (answer("", status=301, headers={"Location": "http://elsewhere.example/"}), "has moved"),
        (as_json([1, 2]), "nothing that can be read"),
        (b"nonsense\r\n\r\n", "can't be reached"),
        (b"", "can't be reached"),
        (as_json({"results": [], "web": {"results": []}}), "found nothing"),
        (as_json({"results": "none", "web": 7}), "found nothing"),
        (as_json({"results": [{"title": "x", "url": "ftp://x"}], "web": None}), "found nothing"),
        (as_json({"results": ["x" * 3_000_000]}), "more than can be read"),
    ],
)
async def test_every_failure_of_a_service_is_a_clear_one(
    site: Website, which: int, reply: bytes, words: str
) -> None:
    provider, _ = providers(site.url().rstrip("/"))[which]
    site.pages["/search"] = reply
    with pytest.raises(ToolFailure, match=words) as caught:
        await search(provider)
    assert "planted" not in str(caught.value)


async def test_searxng_without_json_says_how_to_get_it(site: Website) -> None:
    for reply in (answer("forbidden", status=403), answer("<html>results</html>")):
        site.pages["/search"] = reply
        with pytest.raises(ToolFailure, match=r"add json to search\.formats"):
            await search(SearxNg(site.url()))


async def test_brave_says_422_for_a_key_that_is_none(site: Website) -> None:
    site.pages["/search"] = as_json({"error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}}, 422)
    with pytest.raises(ToolFailure, match="refuses its key"):
        await search(Brave("planted", site.url()))


async def test_tavily_says_432_for_a_plan_that_is_used_up(site: Website) -> None:
    site.pages["/search"] = as_json({"detail": {"error": "limit"}}, 432)
    with pytest.raises(ToolFailure, match="no searches left in its plan"):
        await search(Tavily("planted", site.url()))


@WHICH
async def test_a_service_that_hangs_is_given_up(site: Website, which: int) -> None:
    async def silent(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    provider, _ = providers(site.url(), time_s=0.2)[which]
    site.pages["/search"] = silent
    with pytest.raises(ToolFailure, match=r"didn't answer within 0\.2 s"):
        await search(provider)
    async with asyncio.timeout(10):
        await site.gone.wait()


@WHICH
async def test_a_service_where_nothing_listens_can_not_be_reached(which: int) -> None:
    async with Website() as gone:
        pass
    provider, _ = providers(gone.url())[which]
    with pytest.raises(ToolFailure, match="can't be reached"):
        await search(provider)


async def test_a_key_goes_to_no_other_place(site: Website) -> None:
    async with Website() as other:
        other.pages["/search"] = as_json({"results": FOUND})
        site.pages["/search"] = answer(status=307, headers={"Location": other.url("/search")})
        with pytest.raises(ToolFailure, match="has moved"):
            await search(Tavily("planted", site.url()))
        assert other.connections == 0


async def test_a_service_of_ones_own_is_reached_without_the_proxy(
    site: Website, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    site.pages["/search"] = as_json({"results": FOUND})
    assert (await search(SearxNg(site.url()))).findings.search


async def test_the_public_search_pages_without_a_network_are_a_clear_failure() -> None:
    async with Website() as gone:
        pass
    with pytest.raises(ToolFailure, match="The public search pages"):
        await search(Ddgs(proxy=f"http://127.0.0.1:{gone.port}"))


async def test_the_public_search_pages_take_only_so_long() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        proxy = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ToolFailure, match="took too long"):
            await search(Ddgs(proxy=proxy, time_s=0.01))


class Many:
    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        return [Hit(f"{query} {number}", f"https://{number}.example/", "") for number in range(100)]


@pytest.mark.parametrize(
    ("asked", "given"), [(None, DEFAULT_RESULTS), (2, 2), (99, MAX_RESULTS), (0, DEFAULT_RESULTS)]
)
async def test_as_many_results_as_asked_for_within_bounds(asked: int | None, given: int) -> None:
    result = await search(Many(), **({} if asked is None else {"max_results": asked}))
    assert len(result.findings.search) == given


async def test_an_empty_query_is_refused() -> None:
    with pytest.raises(ToolFailure, match="empty"):
        await search(Many(), " \n ")


# --- which provider -----------------------------------------------------------------------------


def web(**values: Any) -> Web:
    return Web.model_validate(values)


def test_the_provider_is_the_one_that_is_named_and_no_other(tmp_path: Path) -> None:
    keys = KeyStore(tmp_path)
    both = {"tavily": {"api_key": "env:TAVILY"}, "brave": {"api_key": "plain", "url": "http://127.0.0.1:9/"}}
    assert chosen_provider(web(), keys, {}) == Ddgs()
    assert chosen_provider(web(search_provider="brave", **both), keys, {}) == Brave(
        "plain", "http://127.0.0.1:9/"
    )
    assert chosen_provider(web(search_provider="tavily", **both), keys, {"TAVILY": "k"}) == Tavily("k")
    with pytest.raises(ToolFailure, match="environment variable TAVILY"):
        chosen_provider(web(search_provider="tavily", **both), keys, {})


def test_a_stored_key_is_used_for_its_address_only(tmp_path: Path) -> None:
    keys = KeyStore(tmp_path)
    keys.set("tavily", "https://api.tavily.com", "kept")
    stored = {"api_key": "stored"}
    assert chosen_provider(web(search_provider="tavily", tavily=stored), keys, {}) == Tavily("kept")
    with pytest.raises(ToolFailure, match="No key is stored"):
        chosen_provider(
            web(search_provider="tavily", tavily={**stored, "url": "https://other.example"}), keys, {}
        )


@pytest.mark.parametrize(
    ("name", "words"),
    [("searxng", "has no address"), ("tavily", "tavily needs a key"), ("brave", "brave needs a key")],
)
def test_what_is_missing_is_named(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(ToolFailure, match=words):
        chosen_provider(web(search_provider=name), KeyStore(tmp_path), {})


async def test_both_tools_follow_lab_toml(tmp_path: Path, site: Website) -> None:
    path = tmp_path / "lab.toml"
    path.write_text(
        f'[agent.web]\nsearch_provider = "searxng"\n[agent.web.searxng]\nurl = "{site.url()}"\n',
        encoding="utf-8",
    )
    site.pages["/search"] = as_json({"results": FOUND})
    searching, fetching = web_tools(ConfigStore(path, tmp_path / "data"))
    assert (searching.info.name, fetching.info.name) == ("tool__web_search", "tool__web_fetch")
    result = await searching.call({"query": "cats"}, Context())
    assert len(result.findings.search) == 2
    with pytest.raises(ToolFailure, match="only public addresses"):
        await fetching.call({"url": site.url()}, Context(known_urls=frozenset({site.url()})))
