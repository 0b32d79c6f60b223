"""The chat as it was shown: stored message by message, read back for the page and the prompt.

A failing disk never stops a conversation: the newest messages of a session stay in memory too, and
``on_problem`` hears, once, that they are not being kept.
"""

from __future__ import annotations

import logging
import sqlite3
import uuid
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal, TypeVar

from server.protocol import ChatMessage, ErrorCode, TurnOrigin
from server.session.replay import SEQ_BLOCK
from server.storage.database import Database

T = TypeVar("T")
log = logging.getLogger(__name__)

MessageState = Literal["streaming", "whole", "interrupted"]
_IN_MEMORY = 1000
_COLUMNS = "id, turn, role, text, at, state, images, origin, error"


@dataclass(frozen=True, slots=True)
class Message:
    """One message as it was shown. ``at`` is UTC in ISO 8601."""

    id: str
    turn: int
    role: Literal["user", "assistant"]
    text: str
    at: str
    state: MessageState = "whole"
    images: int = 0
    origin: TurnOrigin = "user"
    error: ErrorCode | None = None

    def with_text(self, text: str) -> Message:
        return replace(self, text=text)

    def on_wire(self) -> ChatMessage:
        return ChatMessage(
            id=self.id,
            role=self.role,
            text=self.text,
            at=self.at,
            interrupted=self.state != "whole",
            images=self.images,
            origin=self.origin,
            error=self.error,
        )


def new_id() -> str:
    return uuid.uuid4().hex


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class History:
    """The chat of one session.

    Args:
        on_problem: told once when messages can no longer be stored, again after they could.
    """

    def __init__(self, database: Database, session: str, on_problem: Callable[[], None]) -> None:
        self._database = database
        self._session = session
        self._on_problem = on_problem
        self._failing = False
        self._recent: deque[Message] = deque(maxlen=_IN_MEMORY)

    async def load(self) -> None:
        """Reads the newest messages; a reply that a crash cut off becomes an interrupted one."""

        def read(connection: sqlite3.Connection) -> list[Message]:
            connection.execute(
                "UPDATE messages SET state = 'interrupted' WHERE session = ? AND state = 'streaming'",
                (self._session,),
            )
            return _page(connection, self._session, None, _IN_MEMORY)

        self._recent.extend(await self._attempt(self._database.run(read), []))

    def recent(self) -> list[Message]:
        """The newest messages, oldest first, without touching the disk."""
        return list(self._recent)

    async def page(self, limit: int, before: str | None) -> list[Message]:
        """Up to ``limit`` messages before the message ``before`` (the newest without), oldest first."""
        if before is None and (limit <= len(self._recent) or len(self._recent) < _IN_MEMORY):
            return self.recent()[-limit:]
        read = self._database.run(lambda connection: _page(connection, self._session, before, limit))
        return await self._attempt(read, [])

    async def add(self, message: Message) -> None:
        """Stores ``message``; when this returns, a killed process keeps it."""
        self._recent.append(message)
        session = self._session

        def insert(connection: sqlite3.Connection) -> None:
            connection.execute(
                f"INSERT INTO messages (session, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    session,
                    message.id,
                    message.turn,
                    message.role,
                    message.text,
                    message.at,
                    message.state,
                    message.images,
                    message.origin,
                    message.error,
                ),
            )
            connection.execute(
                """
                INSERT INTO sessions (id, created_at, last_turn, reserved_seq) VALUES (?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET last_turn = max(last_turn, excluded.last_turn)
                """,
                (session, message.at, message.turn, SEQ_BLOCK),
            )

        await self._attempt(self._database.run(insert), None)

    async def update(
        self, message: Message, *, text: str, state: MessageState, error: ErrorCode | None = None
    ) -> None:
        """Stores a message's text and state anew. A message that was cleared meanwhile stays gone."""
        for index in range(len(self._recent) - 1, -1, -1):
            if self._recent[index].id == message.id:
                self._recent[index] = replace(self._recent[index], text=text, state=state, error=error)
                break
        else:
            return

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE messages SET text = ?, state = ?, error = ? WHERE id = ?",
                (text, state, error, message.id),
            )

        await self._attempt(self._database.run(write), None)

    async def clear(self) -> None:
        self._recent.clear()

        def delete(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM messages WHERE session = ?", (self._session,))

        await self._attempt(self._database.run(delete), None)

    async def _attempt(self, operation: Awaitable[T], otherwise: T) -> T:
        try:
            result = await operation
        except sqlite3.Error as error:
            log.warning("the chat could not be stored or read: %s", type(error).__name__)
            if not self._failing:
                self._failing = True
                self._on_problem()
            return otherwise
        self._failing = False
        return result


def _page(connection: sqlite3.Connection, session: str, before: str | None, limit: int) -> list[Message]:
    rows = connection.execute(
        f"""
        SELECT {_COLUMNS} FROM messages
        WHERE session = ?1
          AND (?2 IS NULL OR position < (SELECT position FROM messages WHERE id = ?2 AND session = ?1))
        ORDER BY position DESC LIMIT ?3
        """,
        (session, before, limit),
    ).fetchall()
    return [Message(*row) for row in reversed(rows)]
