"""``[pet_mode]``: when the companion may speak first, and the keys of each rule."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from server.config.table import Table, Texts
from server.config.values import Clock, Count, Hours, Minutes, Positive


class Rule(Table):
    """What every rule has: a switch, and how long it is silent after it spoke."""

    enabled: bool = True
    cooldown_minutes: Minutes = 60


class Uncommitted(Rule):
    """Changes that no commit holds, for too long or too many."""

    after_minutes: Minutes = 60
    after_lines: Positive = 200


class TestsRed(Rule):
    """The last test run failed and nobody ran them since."""

    after_minutes: Minutes = 15
    cooldown_minutes: Minutes = 30


class TestsStale(Rule):
    """The last test run is older than the last changes."""

    after_minutes: Minutes = 45
    after_files: Positive = 3


class Untested(Rule):
    """Code changed and no test did."""

    after_lines: Positive = 80
    cooldown_minutes: Minutes = 120


class Idle(Rule):
    """The user is there, in working hours, and nothing in the workspace moves."""

    after_minutes: Minutes = 20


class LongSession(Rule):
    """Working for too long without a break."""

    after_minutes: Minutes = 90
    break_minutes: Minutes = 10


class Unpushed(Rule):
    """Commits that no remote has, late in the day; ``at`` is local time."""

    at: Clock = "18:00"
    after_commits: Positive = 1
    cooldown_minutes: Minutes = 120


class Todos(Rule):
    """TODO and FIXME added today and left."""

    after_minutes: Minutes = 120
    after_count: Positive = 3
    cooldown_minutes: Minutes = 240


class Conflict(Rule):
    """A merge or rebase left open."""

    after_minutes: Minutes = 15
    cooldown_minutes: Minutes = 30


class Praise(Rule):
    """Good news: tests green after red, a commit, a long-standing TODO removed."""

    tests_green: bool = True
    commit: bool = True
    todo_removed: bool = True
    cooldown_minutes: Minutes = 20


class Rules(Table):
    uncommitted: Uncommitted = Uncommitted()
    tests_red: TestsRed = TestsRed()
    tests_stale: TestsStale = TestsStale()
    untested: Untested = Untested()
    idle: Idle = Idle()
    long_session: LongSession = LongSession()
    unpushed: Unpushed = Unpushed()
    todos: Todos = Todos()
    conflict: Conflict = Conflict()
    praise: Praise = Praise()


class PetMode(Table):
    nudges: bool = True
    working_hours: Annotated[tuple[Hours, ...], Texts] = ("09:00-19:00",)
    quiet_hours: Annotated[tuple[Hours, ...], Texts] = ("23:00-08:00",)
    max_per_hour: Annotated[int, Field(ge=0, le=60)] = 4
    daily_tokens: Count = 20_000
    strictness: Literal["gentle", "normal", "strict"] = "normal"
    rules: Rules = Rules()
