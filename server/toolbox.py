"""Which tools there are: one line each."""

from __future__ import annotations

from server.config.store import ConfigStore
from tools.files import file_tools
from tools.registry import Registry
from tools.screen.look import LookCloser, ScreenShot
from tools.web import web_tools


def build_registry(store: ConfigStore) -> Registry:
    """Every tool of our own with the switch that turns it off, and the MCP servers of lab.toml."""
    registry = Registry(store)
    registry.add(ScreenShot(store), "screenshot")
    registry.add(LookCloser(), "tools")
    for tool in file_tools(store):
        registry.add(tool, "files")
    for tool in web_tools(store):
        registry.add(tool, "web")
    return registry
