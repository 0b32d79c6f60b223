"""How long a call may take and how long its result may be: the closest word counts."""

from __future__ import annotations

from server.config.schema import Config
from tools.contract import ToolInfo


def time_limit(config: Config, info: ToolInfo) -> float:
    """Seconds: ``[tools."name"]``, else the tool's own, else ``[agent.tool_loop]``."""
    chosen = config.tools.bounds(info.name).timeout_s or info.timeout_s
    return chosen or config.agent.tool_loop.timeout_s


def result_limit(config: Config, info: ToolInfo) -> int:
    """Characters; likewise."""
    chosen = config.tools.bounds(info.name).max_result_chars or info.max_result_chars
    return chosen or config.agent.tool_loop.max_result_chars
