"""The clock and the dice as tools, and the prompt that says how many dice the clock means."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import TextContent, ToolAnnotations
from pydantic import Field

from mcp_servers.timeemi.clock import (
    MOST_DICE,
    SIDES,
    DateAndTime,
    Die,
    Roll,
    TimedRoll,
    Unit,
    date_and_time,
    dice_at,
    roll,
)

PROMPT: Final = "roll_dice_by_time"
_READS: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)


def local_now() -> datetime:
    return datetime.now().astimezone()


def six_sided() -> int:
    return random.SystemRandom().randint(1, SIDES)


def build(now: Callable[[], datetime] = local_now, die: Die = six_sided) -> MCPServer:
    """The server, with its clock and its dice."""
    server = MCPServer(
        "timeemi",
        instructions="The local time, and six-sided dice.",
        log_level="WARNING",
    )

    @server.tool(annotations=_READS)
    def get_date_and_time() -> DateAndTime:
        """The local date, time, weekday and time zone. Takes no arguments."""
        return date_and_time(now())

    @server.tool(annotations=_READS)
    def roll_dice(
        dice: Annotated[int, Field(ge=1, le=MOST_DICE, description=f"How many dice, 1 to {MOST_DICE}.")] = 1,
    ) -> Roll:
        """Rolls six-sided dice."""
        return roll(dice, die)

    @server.tool(annotations=_READS)
    async def roll_dice_by_current_time(
        unit: Annotated[Unit, Field(description="Which number of the clock counts the dice.")],
    ) -> TimedRoll:
        """Rolls as many six-sided dice as the clock shows now: of its hour, minute or second."""
        moment = now()
        count = dice_at(unit, moment)
        time = moment.strftime("%H:%M:%S")
        rolled = roll(count, die)
        note = await _prompt_text(server, unit=unit, time=time, count=str(count))
        return TimedRoll(dice=rolled.dice, total=rolled.total, unit=unit, time=time, note=note)

    @server.prompt(name=PROMPT, description="How a roll of dice by the clock is told.")
    def roll_dice_by_time(unit: str, time: str, count: str) -> str:
        return (
            f"It is {time}, and its {unit} stands for {count} dice. Say the time, how many dice that "
            "makes, and the total; name single dice only when there are few."
        )

    return server


async def _prompt_text(server: MCPServer, **arguments: str) -> str:
    """The text of :data:`PROMPT`.

    Raises:
        ToolError: the server doesn't have it.
    """
    if PROMPT not in {prompt.name for prompt in await server.list_prompts()}:
        raise ToolError(f"The prompt {PROMPT} doesn't exist on this server.")
    result = await server.get_prompt(PROMPT, dict(arguments))
    contents = [message.content for message in getattr(result, "messages", ())]
    return "\n".join(content.text for content in contents if isinstance(content, TextContent))
