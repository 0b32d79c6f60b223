"""What lab.toml turns off, no client turns on; a client turns off more."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.config.files import write_all
from server.config.schema import Agent, Config, Memory, Tools
from server.config.switches import CAPABILITIES, Level, Switches


def stored(data_dir: Path, content: str | bytes) -> Switches:
    data_dir.mkdir()
    raw = content if isinstance(content, bytes) else content.encode()
    (data_dir / "switches.json").write_bytes(raw)
    return Switches(data_dir)


def test_without_a_file_everything_is_as_lab_toml_says(data_dir: Path) -> None:
    effective = Switches(data_dir).effective(Config())
    assert effective.tools
    assert effective.mcp
    assert effective.vision
    assert effective.memory
    assert effective.nudges
    assert effective.screenshot == "ask"
    assert effective.checks is True


def test_a_client_turns_off_more(data_dir: Path) -> None:
    effective = stored(data_dir, '{"tools.web": false, "memory.enabled": false}').effective(Config())
    assert not effective.web
    assert not effective.memory
    assert effective.git


def test_a_client_never_turns_on(data_dir: Path) -> None:
    config = Config(memory=Memory(enabled=False), tools=Tools(screenshot=False, checks="ask"))
    switches = stored(data_dir, '{"memory.enabled": true, "tools.screenshot": "ask", "tools.checks": true}')
    effective = switches.effective(config)
    assert not effective.memory
    assert effective.screenshot is False
    assert effective.checks == "ask"


def test_a_client_can_ask_to_be_asked(data_dir: Path) -> None:
    config = Config(tools=Tools(screenshot=True))
    assert stored(data_dir, '{"tools.screenshot": "ask"}').effective(config).screenshot == "ask"


def test_without_tools_no_tool_is_on(data_dir: Path) -> None:
    effective = Switches(data_dir).effective(Config(agent=Agent(enable_tools=False)))
    assert not any(
        (effective.mcp, effective.screenshot, effective.web, effective.files, effective.git, effective.checks)
    )
    assert effective.memory


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe{}", b"null", b"[" * 100_000])
def test_a_file_that_cant_be_read_turns_everything_off(data_dir: Path, content: bytes) -> None:
    switches = stored(data_dir, content)
    assert not switches.readable
    assert not any(switches.level(capability, Config()) for capability in CAPABILITIES)


@pytest.mark.parametrize("value", ["1", '"yes"', "null", '"ask"', "[]"])
def test_a_value_that_is_none_turns_its_capability_off(data_dir: Path, value: str) -> None:
    switches = stored(data_dir, f'{{"tools.web": {value}, "unknown": true}}')
    assert not switches.on("tools.web", Config())
    assert switches.on("tools.git", Config())


def test_what_a_client_chose_survives_a_restart(data_dir: Path) -> None:
    data_dir.mkdir()
    switches = Switches(data_dir)
    levels: dict[str, Level] = {"tools.web": False, "tools.screenshot": "ask"}
    write = switches.with_levels(levels)
    assert write is not None
    write_all([write])
    switches.take(levels)
    assert Switches(data_dir).levels == switches.levels == levels
    assert switches.with_levels({"tools.git": True}) is None


def test_turning_one_on_again_after_a_damaged_file_leaves_the_others_off(data_dir: Path) -> None:
    switches = stored(data_dir, b"{")
    write = switches.with_levels({"tools.web": True})
    assert write is not None
    assert switches.keep_unreadable() == data_dir / "switches.json.unreadable-1"
    write_all([write])
    again = Switches(data_dir)
    assert again.on("tools.web", Config())
    assert not again.on("tools.git", Config())
