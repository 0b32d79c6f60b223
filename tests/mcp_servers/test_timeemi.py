"""The time and the dice: in memory with a known clock, and as the real server."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult

from mcp_servers.timeemi.clock import dice_at
from mcp_servers.timeemi.server import PROMPT, build
from tests.support.mcp_house import DEADLINE_S, House, house, table
from tools.contract import ToolFailure

NOW = datetime(2026, 3, 1, 0, 35, 7, tzinfo=timezone(timedelta(hours=8), "CST"))
SHIPPED = Path(__file__).parents[2] / "lab.toml"


def known() -> MCPServer:
    """A server whose clock stands and whose dice show 1, 2, 3, 4, 5, 6, 1…"""
    dice = itertools.cycle(range(1, 7))
    return build(lambda: NOW, lambda: next(dice))


async def call(server: MCPServer, name: str, **arguments: Any) -> CallToolResult:
    async with asyncio.timeout(DEADLINE_S), Client(server) as client:
        return await client.call_tool(name, arguments)


async def test_date_and_time_are_local_with_weekday_and_zone() -> None:
    result = await call(known(), "get_date_and_time")
    assert result.structured_content == {
        "date": "2026-03-01",
        "time": "00:35:07",
        "weekday": "Sunday",
        "zone": "CST",
        "iso": "2026-03-01T00:35:07+08:00",
    }


async def test_as_many_dice_roll_as_were_asked_for() -> None:
    result = await call(known(), "roll_dice", dice=7)
    assert result.structured_content == {"dice": [1, 2, 3, 4, 5, 6, 1], "total": 22}


@pytest.mark.parametrize("dice", [0, 101, -1, "many", 2.5])
async def test_other_than_1_to_100_dice_are_refused(dice: object) -> None:
    assert (await call(known(), "roll_dice", dice=dice)).is_error


@pytest.mark.parametrize(("unit", "count"), [("hour", 24), ("minute", 35), ("second", 7)])
async def test_the_clock_says_how_many_dice_roll_and_the_prompt_how_to_tell_it(unit: str, count: int) -> None:
    result = await call(known(), "roll_dice_by_current_time", unit=unit)
    rolled = result.structured_content
    assert len(rolled["dice"]) == count
    assert rolled["total"] == sum(rolled["dice"])
    assert rolled["note"].startswith(f"It is 00:35:07, and its {unit} stands for {count} dice.")


async def test_an_unknown_unit_is_refused() -> None:
    assert (await call(known(), "roll_dice_by_current_time", unit="day")).is_error


async def test_the_prompt_is_there_for_any_client() -> None:
    async with asyncio.timeout(DEADLINE_S), Client(known()) as client:
        (prompt,) = (await client.list_prompts()).prompts
        assert prompt.name == PROMPT
        arguments = {"unit": "hour", "time": "09:00:00", "count": "9"}
        result = await client.get_prompt(PROMPT, arguments)
    assert "9 dice" in json.dumps(result.model_dump(mode="json"))


async def test_without_its_prompt_the_tool_says_so() -> None:
    server = known()
    server._prompt_manager._prompts.clear()
    result = await call(server, "roll_dice_by_current_time", unit="hour")
    assert result.is_error
    assert f"The prompt {PROMPT} doesn't exist" in json.dumps(result.model_dump(mode="json"))


def test_there_are_never_more_dice_than_100_nor_fewer_than_1() -> None:
    counts = [
        dice_at(unit, datetime(2026, 1, 1, hour, other, other, tzinfo=UTC))
        for unit in ("hour", "minute", "second")
        for hour in range(24)
        for other in range(60)
    ]
    assert min(counts) >= 1
    assert max(counts) <= 100


async def test_the_file_that_ships_has_the_server_and_it_runs_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mcp_servers").mkdir()  # another's, which must not be taken for ours
    (tmp_path / "mcp_servers" / "__init__.py").write_text("raise SystemExit('foreign code ran')")
    async with house(tmp_path, SHIPPED.read_text(encoding="utf-8")) as it:
        await it.ready("timeemi")
        assert it.names() == [
            "timeemi__get_date_and_time",
            "timeemi__roll_dice",
            "timeemi__roll_dice_by_current_time",
        ]
        await check(it)


async def test_a_server_of_the_same_kind_can_be_configured_under_another_name(tmp_path: Path) -> None:
    settings = table("clock", command="python", args=["-m", "mcp_servers.timeemi"], allow=["roll_dice"])
    async with house(tmp_path, settings) as it:
        await it.ready("clock")
        assert it.names() == ["clock__roll_dice"]


async def check(it: House) -> None:
    now = await it.data("timeemi__get_date_and_time")
    assert abs(datetime.fromisoformat(now["iso"]) - datetime.now(UTC)) < timedelta(minutes=5)
    rolled = await it.data("timeemi__roll_dice", dice=100)
    assert len(rolled["dice"]) == 100
    assert set(rolled["dice"]) <= set(range(1, 7))
    timed = await it.data("timeemi__roll_dice_by_current_time", unit="second")
    assert 1 <= len(timed["dice"]) <= 60
    with pytest.raises(ToolFailure, match="less than or equal to 100"):
        await it.call("timeemi__roll_dice", dice=101)


def test_it_ends_with_its_input() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mcp_servers.timeemi"],
        input=b"",
        capture_output=True,
        timeout=DEADLINE_S,
        cwd=SHIPPED.parent,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")
