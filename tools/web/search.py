"""``tool__web_search``: numbered results of the provider that lab.toml names, and of no other."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from server.config.keys import KeyStore, resolve_key
from server.config.schema import Provider, SearchService, Web
from server.errors import PetError
from tools.contract import CallContext, SearchHit, ToolFailure, ToolInfo, ToolResult
from tools.web.address import normalise
from tools.web.providers import BRAVE, TAVILY, Brave, Ddgs, Hit, SearchProvider, SearxNg, Tavily

NAME: Final = "tool__web_search"
MAX_QUERY: Final = 400
DEFAULT_RESULTS: Final = 5
MAX_RESULTS: Final = 10

INFO: Final = ToolInfo(
    name=NAME,
    description=(
        "Searches the web and gives numbered results: title, address, a few words. For details, read one of "
        "the results with tool__web_fetch in the next step."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY},
            "max_results": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_RESULTS,
                "description": f"{DEFAULT_RESULTS} unless told",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    hint=(
        "Search again with a simpler query; if the provider fails, say that another one can be set in "
        "lab.toml ([agent.web] search_provider). For details fetch one of the results."
    ),
)

Choose = Callable[[], SearchProvider]


class WebSearch:
    """Args:
    choose: gives the provider that holds now; raises ToolFailure when it can't be used.
    """

    info: ToolInfo = INFO

    def __init__(self, choose: Choose) -> None:
        self._choose = choose

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        query = " ".join(str(arguments["query"]).split())[:MAX_QUERY]
        if not query:
            raise ToolFailure("The query is empty.")
        limit = max(1, min(int(arguments.get("max_results") or DEFAULT_RESULTS), MAX_RESULTS))
        provider = self._choose()
        context.progress(note=query[:80])
        found = _usable(await provider.search(query, limit))[:limit]
        if not found:
            raise ToolFailure("The search found nothing.")
        hits = [SearchHit(number, hit.title, hit.url) for number, hit in enumerate(found, 1)]
        return ToolResult.text(_shown(found), urls=[hit.url for hit in found], search=hits)


def chosen_provider(web: Web, keys: KeyStore, environ: Mapping[str, str] = os.environ) -> SearchProvider:
    """The provider that ``[agent.web]`` names.

    Raises:
        ToolFailure: its address or its key is missing.
    """
    if web.search_provider == "searxng":
        if not web.searxng.url:
            raise ToolFailure(
                "SearXNG has no address: the owner must set [agent.web.searxng] url in lab.toml."
            )
        return SearxNg(web.searxng.url)
    if web.search_provider == "tavily":
        url = web.tavily.url or TAVILY
        return Tavily(_key("tavily", web.tavily, url, keys, environ), url)
    if web.search_provider == "brave":
        url = web.brave.url or BRAVE
        return Brave(_key("brave", web.brave, url, keys, environ), url)
    return Ddgs()


def _key(name: str, service: SearchService, url: str, keys: KeyStore, environ: Mapping[str, str]) -> str:
    try:
        key = resolve_key(name, Provider(base_url=url, api_key=service.api_key), keys, environ)
    except PetError as error:
        raise ToolFailure(str(error)) from error
    if not key:
        raise ToolFailure(f"{name} needs a key: the owner must set [agent.web.{name}] api_key in lab.toml.")
    return key


def _usable(hits: Sequence[Hit]) -> list[Hit]:
    """Those with an address of a page, each once."""
    usable: dict[str, Hit] = {}
    for hit in hits:
        url = normalise(hit.url)
        if url is not None:
            usable.setdefault(url, Hit(hit.title or url, url, hit.snippet))
    return list(usable.values())


def _shown(hits: Sequence[Hit]) -> str:
    lines = []
    for number, hit in enumerate(hits, 1):
        lines.append(f"{number}. {hit.title}\n   {hit.url}")
        if hit.snippet:
            lines.append(f"   {hit.snippet}")
    return "\n".join(lines)
