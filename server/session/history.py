"""The chat as it was shown: stored message by message, read back for the page and the prompt.

A failing disk never stops a conversation: the newest messages of a session stay in memory too.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import uuid
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from server.protocol import ChatMessage, ErrorCode, TurnOrigin
from server.session.replay import SEQ_BLOCK
from server.storage.database import Database
from server.storage.file import is_damage

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

    What the disk doesn't take stays in memory, and is written with the next message that it does take.

    Args:
        shared: whether it is the session of all the owner's clients.
        first_seq: the sequence number before the first frame of this run.
    """

    def __init__(self, database: Database, session: str, *, shared: bool = False, first_seq: int = 0) -> None:
        self._database = database
        self._session = session
        self._shared = shared
        self._reserved_seq = first_seq + SEQ_BLOCK
        self._recent: deque[Message] = deque(maxlen=_IN_MEMORY)
        self._unsaved: dict[str, Message] = {}
        self._clearing = False

    async def load(self) -> None:
        """Reads the newest messages; a reply that a crash cut off becomes an interrupted one."""
        try:
            found = await self._database.read(lambda disk: _page(disk, self._session, None, _IN_MEMORY))
        except sqlite3.Error as error:
            log.warning("the chat could not be read: %s", type(error).__name__)
            return
        for message in found:
            if message.state == "streaming":
                message = self._unsaved[message.id] = replace(message, state="interrupted")
            self._recent.append(message)
        if self._unsaved:
            await self.save()

    def recent(self) -> list[Message]:
        """The newest messages, oldest first, without touching the disk."""
        return list(self._recent)

    async def page(self, limit: int, before: str | None) -> list[Message]:
        """Up to ``limit`` messages before the message ``before`` (the newest without), oldest first."""
        if before is None and (limit <= len(self._recent) or len(self._recent) < _IN_MEMORY):
            return self.recent()[-limit:]
        try:
            return await self._database.read(lambda disk: _page(disk, self._session, before, limit))
        except sqlite3.Error as error:
            log.warning("the chat could not be read: %s", type(error).__name__)
            return []

    async def add(self, message: Message) -> None:
        """Stores ``message``; when this returns, a killed process keeps it."""
        self._recent.append(message)
        self._unsaved[message.id] = message
        await self.save()

    async def update(
        self, message: Message, *, text: str, state: MessageState, error: ErrorCode | None = None
    ) -> None:
        """Stores a message's text and state anew. A message that was cleared meanwhile stays gone."""
        for index in range(len(self._recent) - 1, -1, -1):
            if self._recent[index].id == message.id:
                changed = replace(self._recent[index], text=text, state=state, error=error)
                self._recent[index] = self._unsaved[message.id] = changed
                await self.save()
                return

    async def clear(self) -> None:
        self._recent.clear()
        self._unsaved.clear()
        self._clearing = True
        await self.save()

    async def save(self) -> bool:
        """Writes what the disk lacks; whether it has it all now. Writing the same twice changes nothing."""
        messages, clearing = tuple(self._unsaved.values()), self._clearing
        if not messages and not clearing:
            return True

        def write(connection: sqlite3.Connection) -> None:
            if clearing:
                connection.execute("DELETE FROM messages WHERE session = ?", (self._session,))
            if messages:
                self._enrol(connection, messages)
            for message in messages:
                _store(connection, self._session, message)

        async def written() -> bool:
            try:
                await self._database.keep(write)
            except sqlite3.Error as error:
                log.warning("the chat could not be stored: %s", type(error).__name__)
                if is_damage(error):  # a new file has begun: it gets what this run still knows
                    self._unsaved = {message.id: message for message in self._recent}
                return False
            if clearing:
                self._clearing = False
            for message in messages:
                if self._unsaved.get(message.id) is message:
                    del self._unsaved[message.id]
            return True

        # A turn that is cancelled meanwhile must not make the bookkeeping forget what was written.
        return await asyncio.shield(asyncio.ensure_future(written()))

    def _enrol(self, connection: sqlite3.Connection, messages: Sequence[Message]) -> None:
        """Makes sure that the session itself is on the disk too."""
        connection.execute(
            """
            INSERT INTO sessions (id, shared, created_at, last_turn, reserved_seq)
            VALUES (?, ? AND NOT EXISTS (SELECT 1 FROM sessions WHERE shared = 1), ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET
                last_turn = max(last_turn, excluded.last_turn),
                reserved_seq = max(reserved_seq, excluded.reserved_seq)
            """,
            (
                self._session,
                int(self._shared),
                messages[0].at,
                max(message.turn for message in messages),
                self._reserved_seq,
            ),
        )


def _store(connection: sqlite3.Connection, session: str, message: Message) -> None:
    connection.execute(
        f"""
        INSERT INTO messages (session, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET text = excluded.text, state = excluded.state, error = excluded.error
        """,
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
