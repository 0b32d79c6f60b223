"""The owner's screen: one picture when asked, never written to disk."""

from __future__ import annotations

from server.config.store import ConfigStore
from tools.contract import Tool
from tools.screen.look import LookCloser, ScreenShot

__all__ = ["screen_tools"]


def screen_tools(store: ConfigStore) -> list[Tool]:
    return [ScreenShot(store), LookCloser()]
