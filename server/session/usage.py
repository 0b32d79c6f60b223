"""Tokens by role and day, so that they can be shown and capped."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from datetime import date, datetime, timedelta

from server.protocol import Role, Usage
from server.storage.database import Database

log = logging.getLogger(__name__)


class UsageLedger:
    """Today's tokens in memory, every day's in the database.

    Args:
        clock: the local time; a day is the user's local day.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime] = datetime.now) -> None:
        self._database = database
        self._clock = clock
        self._day = clock().date()
        self._today: dict[Role, Usage] = {}

    async def load(self) -> None:
        day = self._day.isoformat()

        def read(connection: sqlite3.Connection) -> list[tuple[Role, int, int]]:
            return connection.execute(
                "SELECT role, prompt, completion FROM usage WHERE day = ?", (day,)
            ).fetchall()

        try:
            rows = await self._database.read(read)
        except sqlite3.Error as error:
            log.warning("today's tokens could not be read: %s", type(error).__name__)
            return
        for role, prompt, completion in rows:
            self._today[role] = Usage(prompt=prompt, completion=completion)

    def today(self) -> dict[Role, Usage]:
        self._roll_over()
        return dict(self._today)

    def total_today(self) -> int:
        return sum(usage.prompt + usage.completion for usage in self.today().values())

    def seconds_left_today(self) -> float:
        now = self._clock()
        midnight = datetime.combine(now.date() + timedelta(days=1), datetime.min.time())
        return (midnight - now.replace(tzinfo=None)).total_seconds()

    async def add(self, role: Role, usage: Usage) -> None:
        """Counts ``usage``; a failing disk only loses the count after a restart."""
        self._roll_over()
        before = self._today.get(role, Usage())
        self._today[role] = Usage(
            prompt=before.prompt + usage.prompt, completion=before.completion + usage.completion
        )
        day = self._day.isoformat()

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                """
                INSERT INTO usage (day, role, prompt, completion) VALUES (?, ?, ?, ?)
                ON CONFLICT (day, role) DO UPDATE SET
                    prompt = prompt + excluded.prompt, completion = completion + excluded.completion
                """,
                (day, role, usage.prompt, usage.completion),
            )

        try:
            await self._database.run(write)
        except sqlite3.Error as error:
            log.warning("today's tokens could not be stored: %s", type(error).__name__)

    def _roll_over(self) -> None:
        today: date = self._clock().date()
        if today != self._day:
            self._day = today
            self._today.clear()
