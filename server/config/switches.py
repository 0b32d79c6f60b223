"""Two switches for each capability: the owner's in lab.toml, and the client's own in the data folder,
which can only turn off more."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from server.config.files import Write, set_aside
from server.config.schema import Config

FILE_NAME: Final = "switches.json"
Level: TypeAlias = Literal["ask"] | bool
_ORDER: Final[Mapping[Level, int]] = {False: 0, "ask": 1, True: 2}

CAPABILITIES: Final = (
    "agent.enable_tools",
    "agent.enable_mcp",
    "agent.enable_vision",
    "tools.screenshot",
    "tools.web",
    "tools.files",
    "tools.git",
    "tools.checks",
    "memory.enabled",
    "pet_mode.nudges",
)
ASKING: Final = frozenset({"tools.screenshot", "tools.checks"})


@dataclass(frozen=True, slots=True)
class Effective:
    """What is allowed after both switches. Without ``tools`` nothing that is a tool is."""

    tools: bool
    mcp: bool
    vision: bool
    screenshot: Level
    web: bool
    files: bool
    git: bool
    checks: Level
    memory: bool
    nudges: bool


class Switches:
    """The client's own switches, kept in memory; a file that can't be read means that everything is off."""

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / FILE_NAME
        self.readable = True
        self.levels: dict[str, Level] = {}
        try:
            self.levels = _parse(self.path.read_bytes())
        except FileNotFoundError:
            pass
        except (OSError, ValueError, RecursionError):
            self.readable = False
            self.levels = dict.fromkeys(CAPABILITIES, False)

    def level(self, capability: str, config: Config) -> Level:
        """What both switches leave of ``capability``, one of :data:`CAPABILITIES`."""
        return lower(owner_level(config, capability), self.levels.get(capability, True))

    def effective(self, config: Config) -> Effective:
        tools = self.on("agent.enable_tools", config)
        return Effective(
            tools=tools,
            mcp=tools and self.on("agent.enable_mcp", config),
            vision=self.on("agent.enable_vision", config),
            screenshot=tools and self.level("tools.screenshot", config),
            web=tools and self.on("tools.web", config),
            files=tools and self.on("tools.files", config),
            git=tools and self.on("tools.git", config),
            checks=tools and self.level("tools.checks", config),
            memory=self.on("memory.enabled", config),
            nudges=self.on("pet_mode.nudges", config),
        )

    def on(self, capability: str, config: Config) -> bool:
        return self.level(capability, config) is True

    def with_levels(self, levels: Mapping[str, Level]) -> Write | None:
        """The file as it will be, or None where nothing changes."""
        new = merged(self.levels, levels)
        if new == self.levels and self.readable:
            return None
        return Write(self.path, (json.dumps(new, indent=2, sort_keys=True) + "\n").encode(), private=True)

    def take(self, levels: Mapping[str, Level]) -> None:
        """Holds from now on what :meth:`with_levels` has written."""
        self.levels = merged(self.levels, levels)
        self.readable = True

    def keep_unreadable(self) -> Path | None:
        """Moves a file that can't be read out of the way; where to, or None when all is well.

        Raises:
            OSError: it can't be moved.
        """
        return None if self.readable or not self.path.exists() else set_aside(self.path)


def owner_level(config: Config, capability: str) -> Level:
    """What lab.toml says."""
    table, _, key = capability.partition(".")
    level: Level = getattr(getattr(config, table), key)
    return level


def lower(one: Level, other: Level) -> Level:
    return min(one, other, key=_ORDER.__getitem__)


def at_most(level: Level, bound: Level) -> bool:
    return _ORDER[level] <= _ORDER[bound]


def merged(old: Mapping[str, Level], new: Mapping[str, Level]) -> dict[str, Level]:
    """A switch that is on is no switch."""
    return {name: level for name, level in {**old, **new}.items() if level is not True}


def _parse(raw: bytes) -> dict[str, Level]:
    """A capability with a value that is none is off.

    Raises:
        ValueError: no JSON object at all.
    """
    data = json.loads(raw.decode("utf-8-sig"))
    if not isinstance(data, dict):
        raise ValueError("no JSON object")
    levels: dict[str, Level] = {}
    for name in CAPABILITIES:
        if name in data:
            value = data[name]
            asks = name in ASKING and value == "ask"
            levels[name] = "ask" if asks else value is True
    return merged({}, levels)
