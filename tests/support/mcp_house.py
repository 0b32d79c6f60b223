"""A companion's MCP servers in this process, and servers of every kind as real processes."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from server.config.store import ConfigStore
from tests.support.calls import Context
from tools.contract import DataPart, TextPart, ToolResult
from tools.mcp.servers import McpServers

DEADLINE_S = 45.0
FAULTY = Path(__file__).parents[1] / "fakes" / "mcp_server.py"


def table(name: str, **keys: Any) -> str:
    """``[mcp.servers.name]`` of lab.toml."""
    lines = (f"{key} = {json.dumps(value)}" for key, value in keys.items())
    return "\n".join([f"[mcp.servers.{name}]", *lines, ""])


def faulty(*faults: str, name: str = "x", **keys: Any) -> str:
    """The table of a server with these faults (tests/fakes/mcp_server.py)."""
    return table(name, command=sys.executable, args=["-S", str(FAULTY), *faults], **keys)


class House:
    """Servers, and a way to wait for what becomes of them."""

    def __init__(self, folder: Path, toml: str) -> None:
        self.folder = folder
        self.path = folder / "lab.toml"
        self.path.write_text(toml, encoding="utf-8")
        self.store = ConfigStore(self.path, folder / "data")
        self.servers = McpServers(self.store, self._changed)
        self._change = asyncio.Event()

    def _changed(self) -> None:
        self._change.set()
        self._change = asyncio.Event()

    async def until(self, true: Callable[[], object]) -> None:
        """Returns when ``true()`` is; looks again at each change."""
        async with asyncio.timeout(DEADLINE_S):
            while not true():
                await self._change.wait()

    async def ready(self, *names: str) -> None:
        await self.until(lambda: all(self.state(name) == "ready" for name in names or ("x",)))

    def state(self, name: str = "x") -> str:
        return {server.name: server.state for server in self.servers.status()}[name]

    def error(self, name: str = "x") -> str:
        return {server.name: server.error for server in self.servers.status()}[name] or ""

    def names(self) -> list[str]:
        return [tool.info.name for tool in self.servers.tools()]

    async def call(self, name: str, context: Context | None = None, **arguments: Any) -> ToolResult:
        tools = {tool.info.name: tool for tool in self.servers.tools()}
        async with asyncio.timeout(DEADLINE_S):
            return await tools[name].call(arguments, context or Context())

    async def says(self, name: str, **arguments: Any) -> str:
        """The text of a call's only part."""
        (part,) = (await self.call(name, **arguments)).parts
        assert isinstance(part, TextPart), part
        return part.text

    async def data(self, name: str, **arguments: Any) -> Any:
        (part,) = (await self.call(name, **arguments)).parts
        assert isinstance(part, DataPart), part
        return part.value

    def pids(self) -> list[int]:
        """Of every start of a faulty server."""
        return [int(line) for line in (self.folder / "pids").read_text(encoding="utf-8").split()]


@asynccontextmanager
async def house(folder: Path, *tables: str) -> AsyncIterator[House]:
    """Servers that have been started, in a folder of their own."""
    made = House(folder, "\n".join(tables))
    made.servers.start()
    try:
        yield made
    finally:
        async with asyncio.timeout(DEADLINE_S):
            await made.servers.aclose()
