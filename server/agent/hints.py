"""What the tool model is told when a call fails: the hints of behaviour.md, "Tool loop"."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tools.contract import DEFAULT_HINT, ToolInfo

NO_MORE_RETRIES: Final = "It was tried again already. Don't call it once more; report briefly what failed."

_BY_NAME: Final[Mapping[str, str]] = MappingProxyType(
    {
        "vision__screen_shot": (
            "Call it once more without arguments. If it fails again, say that the desktop can't be seen and "
            "ask for a picture or a description."
        ),
        "tool__web_search": (
            "Try a simpler query, or another provider. For details fetch one of the results that you have."
        ),
        "tool__web_fetch": (
            "Try a larger max_chars (12000 to 20000) or a more specific address. If it is blocked by "
            "robots.txt or answers with a 4xx or 5xx status, report the status and ask for another address."
        ),
        "tool__read_file": (
            "Use the right path, relative to the workspace, or other lines. If it isn't found, ask for the "
            "path."
        ),
        "timeemi__get_date_and_time": "Call it without arguments.",
        "timeemi__roll_dice": "Roll 1 to 100 dice.",
        "timeemi__roll_dice_by_current_time": (
            "The unit is hour, minute or second. Check that the prompt exists on the server."
        ),
    }
)


def hint_for(tool: ToolInfo) -> str:
    """The tool's own hint, else the one that is known for its name, else the general one."""
    return tool.hint if tool.hint != DEFAULT_HINT else _BY_NAME.get(tool.name, DEFAULT_HINT)
