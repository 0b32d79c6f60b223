"""All configured MCP servers, kept as lab.toml and the switches say."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from server.config.schema import Config, McpServer
from server.config.store import ConfigStore
from server.protocol import Locale, McpServerStatus
from tools.contract import ToolInfo
from tools.limits import time_limit
from tools.mcp.server import McpTool, Server

log = logging.getLogger(__name__)


class McpServers:
    """Servers start at the same time in the background; none waits for another, nobody waits for any.

    Args:
        changed: called on the event loop when a state or the tools are others.
    """

    def __init__(self, store: ConfigStore, changed: Callable[[], None] = lambda: None) -> None:
        self._store = store
        self._changed = changed
        self._servers: dict[str, Server] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._unsubscribe: Callable[[], None] | None = None

    def start(self) -> None:
        """Starts what is configured, and from now on follows the configuration. Returns at once."""
        self._unsubscribe = self._store.subscribe(self._follow)
        self._arrange()

    async def aclose(self) -> None:
        """Ends all of them within 2 s."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        for name in list(self._servers):
            self._close(name)
        if self._closing:
            await asyncio.wait(self._closing)

    async def settled(self) -> None:
        """Returns once every server has got ready or failed to."""
        await asyncio.gather(*(server.settled.wait() for server in self._servers.values()))

    def tools(self) -> list[McpTool]:
        """Of all servers, in the order of lab.toml."""
        if not self._store.effective().mcp:
            return []
        running = (self._servers.get(name) for name in self._store.config.mcp.servers)
        return [tool for server in running if server is not None for tool in server.tools]

    def status(self, locale: Locale = "en") -> list[McpServerStatus]:
        """Every configured server; one that is turned off is ``disabled``."""
        found = []
        for name in self._store.config.mcp.servers:
            server = self._servers.get(name)
            if server is None:
                found.append(McpServerStatus(name=name, state="disabled", tools=0))
                continue
            error = server.error.render(locale) if server.error else None
            found.append(McpServerStatus(name=name, state=server.state, tools=len(server.tools), error=error))
        return found

    def __getitem__(self, name: str) -> Server:
        return self._servers[name]

    def _follow(self, old: Config, new: Config) -> None:
        self._arrange()

    def _arrange(self) -> None:
        """Ends the servers that aren't wanted any more or not like this, and starts those that are."""
        wanted = self._wanted()
        for name, server in list(self._servers.items()):
            settings = wanted.get(name)
            if settings == server.settings:
                continue
            ended = self._close(name)
            if settings is not None:
                self._open(name, settings, after=ended)
        for name, settings in wanted.items():
            if name not in self._servers:
                self._open(name, settings)
        self._changed()

    def _wanted(self) -> dict[str, McpServer]:
        if not self._store.effective().mcp:
            return {}
        servers = self._store.config.mcp.servers
        return {name: settings for name, settings in servers.items() if settings.enabled}

    def _open(self, name: str, settings: McpServer, after: asyncio.Task[None] | None = None) -> None:
        server = Server(
            name,
            settings,
            config_dir=self._store.path.parent,
            time_limit=self._time_limit,
            changed=self._changed,
        )
        self._servers[name] = server
        server.start(after)

    def _close(self, name: str) -> asyncio.Task[None]:
        closing = asyncio.create_task(self._servers.pop(name).aclose())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        return closing

    def _time_limit(self, info: ToolInfo) -> float:
        return time_limit(self._store.config, info)
