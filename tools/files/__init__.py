"""Reading text files of the owner's workspace, and nothing outside it."""

from __future__ import annotations

from server.config.store import ConfigStore
from tools.contract import Tool
from tools.files.read import ReadFile

__all__ = ["file_tools"]


def file_tools(store: ConfigStore) -> list[Tool]:
    return [ReadFile(store)]
