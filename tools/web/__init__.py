"""Search and pages of the web."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from server.config.store import ConfigStore
    from tools.contract import Tool


def web_tools(store: ConfigStore) -> list[Tool]:
    """``tool__web_search`` and ``tool__web_fetch``, which follow ``[agent.web]`` as it changes."""
    # Not above: the process that reads a page comes through here too, and needs none of it.
    from tools.web.fetch import WebFetch
    from tools.web.search import WebSearch, chosen_provider

    return [
        WebSearch(lambda: chosen_provider(store.config.agent.web, store.keys)),
        WebFetch(lambda: store.config.agent.web.allow_private),
    ]
