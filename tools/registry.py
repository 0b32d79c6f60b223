"""All tools behind one contract: our own and those of MCP servers, as far as both switches allow them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from server.config.store import ConfigStore
from server.config.switches import Effective
from server.protocol import Locale, McpServerStatus, ToolStatus
from tools.contract import TOOL_NAME, Tool, ToolInfo
from tools.mcp.servers import McpServers

Switch: TypeAlias = Literal["tools", "screenshot", "web", "files", "git", "checks"]
_OFF: Final = (False,)


@dataclass(frozen=True, slots=True)
class _Entry:
    tool: Tool
    switch: Switch


class Registry:
    """What may be called now. Nothing is remembered of a switch: each look asks again.

    Args:
        changed: called on the event loop when an MCP server's state or tools are others.

    Attributes:
        mcp: the servers; :meth:`start` starts them.
    """

    def __init__(self, store: ConfigStore, changed: Callable[[], None] = lambda: None) -> None:
        self.mcp = McpServers(store, changed)
        self._store = store
        self._own: dict[str, _Entry] = {}

    def add(self, tool: Tool, switch: Switch = "tools") -> None:
        """Registers a tool of our own, which is off where ``switch`` is.

        Raises:
            ValueError: its name is none, or taken.
        """
        name = tool.info.name
        if not TOOL_NAME.fullmatch(name) or "__" not in name or name in self._own:
            raise ValueError(f"no name for a tool, or taken: {name}")
        self._own[name] = _Entry(tool, switch)

    def start(self) -> None:
        """Starts the MCP servers in the background."""
        self.mcp.start()

    async def aclose(self) -> None:
        """Ends the MCP servers within 2 s."""
        await self.mcp.aclose()

    def tools(self) -> list[ToolInfo]:
        """Those allowed now: our own in the order of their registration, then the servers'."""
        return [tool.info for tool in self._allowed().values()]

    def get(self, name: str) -> Tool | None:
        """The tool of this name, if it is allowed now."""
        return self._allowed().get(name)

    def status(self) -> list[ToolStatus]:
        """Every tool that is there, allowed or not."""
        allowed = self._allowed()
        names = dict.fromkeys((*self._own, *allowed))
        return [ToolStatus(name=name, enabled=name in allowed) for name in names]

    def mcp_status(self, locale: Locale = "en") -> list[McpServerStatus]:
        """Every configured MCP server."""
        return self.mcp.status(locale)

    def _allowed(self) -> dict[str, Tool]:
        effective = self._store.effective()
        if not effective.tools:
            return {}
        allowed: dict[str, Tool] = {
            name: entry.tool for name, entry in self._own.items() if is_on(entry.switch, effective)
        }
        for tool in self.mcp.tools():
            allowed.setdefault(tool.info.name, tool)
        return allowed


def is_on(switch: Switch, effective: Effective) -> bool:
    """Whether both switches leave it on; ``ask`` is on, the tool asks."""
    return getattr(effective, switch) not in _OFF
