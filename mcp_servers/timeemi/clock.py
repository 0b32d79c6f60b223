"""The time and the dice themselves; no MCP here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, Field

MOST_DICE: Final = 100
SIDES: Final = 6
WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FULL_TURN: Final = {"hour": 24, "minute": 60, "second": 60}

Unit: TypeAlias = Literal["hour", "minute", "second"]
Die: TypeAlias = Callable[[], int]


class DateAndTime(BaseModel):
    """The local time; ``iso`` holds its offset."""

    date: str
    time: str
    weekday: str
    zone: str
    iso: str


class Roll(BaseModel):
    """Six-sided dice, in the order in which they were rolled."""

    dice: list[int] = Field(description="What each die shows.")
    total: int


class TimedRoll(Roll):
    """A roll of as many dice as the clock says."""

    unit: Unit
    time: str
    note: str = Field(description="How to tell the result.")


def date_and_time(now: datetime) -> DateAndTime:
    return DateAndTime(
        date=now.strftime("%Y-%m-%d"),
        time=now.strftime("%H:%M:%S"),
        weekday=WEEKDAYS[now.weekday()],
        zone=now.tzname() or now.strftime("%z"),
        iso=now.isoformat(timespec="seconds"),
    )


def roll(count: int, die: Die) -> Roll:
    dice = [die() for _ in range(count)]
    return Roll(dice=dice, total=sum(dice))


def dice_at(unit: Unit, now: datetime) -> int:
    """As many as the clock shows of ``unit``; on the full turn (0 o'clock) as many as a turn has."""
    return int(getattr(now, unit)) or _FULL_TURN[unit]
