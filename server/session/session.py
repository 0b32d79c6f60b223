"""A session: its chat, its one running turn, its clients and the frames kept for them."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from server.agent.compose import ClientNote
from server.frames import encode
from server.messages import render
from server.models.events import Connection
from server.protocol import (
    Expression,
    Image,
    Locale,
    Notice,
    NoticeLevel,
    Say,
    ServerMessage,
    State,
    StateName,
    TurnCancelled,
    TurnStart,
)
from server.session.context import Context
from server.session.history import Message, new_id, now
from server.session.replay import SEQ_BLOCK, Replay
from server.session.turn import Turn, TurnInput, TurnServices
from server.session.workbench import Workbench
from server.storage.database import Database

log = logging.getLogger(__name__)

_MAX_NOTES = 32


class Listener(Protocol):
    """A client as its session sees it."""

    def deliver(self, text: str) -> None:
        """Takes one encoded frame; never blocks, never raises."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What the database knows of a session when it is opened."""

    id: str
    last_turn: int
    newest_seq: int


@dataclass(frozen=True, slots=True)
class Asker:
    """The client that made a request, the id that the answer echoes, and the client's name."""

    listener: Listener
    re: str | None
    name: str = "client"


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A user's message, checked and cleaned."""

    text: str
    images: Sequence[Image]
    context: Context


class Session:
    """Everything that happens in one conversation, in one order.

    Args:
        prepare: fills in what a turn needs beyond the message (persona, settings, facts).
        connection: the present state of the models.
    """

    def __init__(
        self,
        stored: Stored,
        database: Database,
        services: TurnServices,
        bench: Workbench,
        prepare: Callable[[Session, int, Message, NewMessage, Sequence[Message]], TurnInput],
        connection: Callable[[], Connection],
    ) -> None:
        self.id = stored.id
        self.history = services.history
        self.bench = bench
        self.locale: Locale = "en"
        self.idle_since = monotonic()
        self._database = database
        self._services = services
        self._prepare = prepare
        self._connection = connection
        self._listeners: list[Listener] = []
        self._turn: Turn | None = None
        self._last_turn = stored.last_turn
        self._turn_first_seq = stored.newest_seq
        self._replay = Replay(stored.newest_seq)
        self._reserved_seq = stored.newest_seq + SEQ_BLOCK
        self._notes: dict[str, tuple[float, ClientNote]] = {}
        self._order = asyncio.Lock()
        self._background: set[asyncio.Task[None]] = set()

    # --- clients

    @property
    def newest_seq(self) -> int:
        return self._replay.newest

    @property
    def listened(self) -> bool:
        return bool(self._listeners)

    @property
    def running(self) -> bool:
        return self._turn is not None and not self._turn.over

    def attach(self, listener: Listener, last_seq: int | None) -> tuple[bool, list[str]]:
        """Adds a client.

        Returns:
            Whether it resumed, and the frames that it missed. A client that doesn't resume while a
            turn runs gets that turn's frames from its start.
        """
        self._listeners.append(listener)
        if last_seq is not None and self._replay.can_resume(last_seq):
            return True, list(self._replay.after(last_seq))
        return False, list(self._replay.after(self._turn_first_seq)) if self.running else []

    def detach(self, listener: Listener) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)
        self.idle_since = monotonic()

    def emit(self, frame: ServerMessage, asker: Asker | None = None) -> None:
        """Sends ``frame`` to every client; the asker's copy echoes its request."""
        frame.seq = self._replay.newest + 1
        text = encode(frame)
        self._replay.keep(frame.seq, text)
        if frame.seq > self._reserved_seq - SEQ_BLOCK // 2:
            self._reserve_more()
        for listener in self._listeners:
            if asker is not None and listener is asker.listener and asker.re is not None:
                listener.deliver(encode(frame.model_copy(update={"re": asker.re})))
            else:
                listener.deliver(text)

    def notice(self, level: NoticeLevel, text: str, **params: str | int) -> None:
        """Tells every client of something outside a reply; ``text`` is ``subject.code``."""
        message = render(text, self.locale, **params)
        self.emit(Notice(level=level, code=text.partition(".")[2], message=message))

    # --- state

    def state(self) -> State:
        connection = self._connection()
        name: StateName = "streaming" if self.running else connection.state
        return State(state=name, detail=connection.detail, guide=connection.guide)

    def tell_state(self) -> None:
        self.emit(self.state())

    # --- turns

    async def send(self, message: NewMessage, asker: Asker | None) -> Turn:
        """Starts a turn; one that runs is cancelled first. Returns when the message is stored."""
        async with self._order:
            await self._stop_turn(None)
            before = self.history.recent()
            self._last_turn += 1
            number = self._last_turn
            asked = Message(
                id=new_id(),
                turn=number,
                role="user",
                text=message.text,
                at=now(),
                images=len(message.images),
            )
            await self.history.add(asked)
            self._turn_first_seq = self._replay.newest
            start = TurnStart(turn=number, message_id=asked.id, origin="user", text=asked.text)
            self.emit(start, asker)
            given = self._prepare(self, number, asked, message, before)
            turn = self._turn = Turn(given, self._services, self.emit)
        self.tell_state()
        self._keep(self._tell_end_of(turn))
        return turn

    async def cancel(self, number: int | None, asker: Asker | None) -> bool:
        """Stops the running turn (or the one named); False when that one is already over."""
        async with self._order:
            if not self.running or (number is not None and number != self._last_turn):
                return False
            await self._stop_turn(asker)
        self.tell_state()
        return True

    async def clear(self) -> None:
        """Empties the chat; a running turn is stopped first."""
        stopped = await self.cancel(None, None)
        async with self._order:
            await self.history.clear()
            await self.bench.forget()
        if stopped:
            log.info("the chat was cleared while a turn ran")

    async def close(self) -> None:
        async with self._order:
            await self._stop_turn(None)
        for task in tuple(self._background):
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    async def _stop_turn(self, asker: Asker | None) -> None:
        turn = self._turn
        if turn is None or turn.over:
            return
        shown = await turn.stop()
        self.emit(TurnCancelled(turn=turn.number, text=shown), asker)

    async def _tell_end_of(self, turn: Turn) -> None:
        await turn.wait()
        if self._turn is turn and not turn.stopped:
            self.tell_state()

    # --- what else clients say

    def note(self, source: str, text: str, ttl_s: float) -> None:
        """Keeps a client's short-lived context; an empty text takes it back."""
        self._notes.pop(source, None)
        if text.strip():
            self._notes[source] = (monotonic() + ttl_s, ClientNote(source, text))
        while len(self._notes) > _MAX_NOTES:
            self._notes.pop(next(iter(self._notes)))

    def fresh_notes(self) -> list[ClientNote]:
        return [note for until, note in self._notes.values() if until > monotonic()]

    def say(self, text: str, expression: Expression | None, source: str) -> None:
        """Lets another agent speak through the character; kept nowhere."""
        self.emit(Say(text=text, expression=expression, source=source))

    # --- bookkeeping

    def _reserve_more(self) -> None:
        self._reserved_seq += SEQ_BLOCK
        upto, session = self._reserved_seq, self.id

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE sessions SET reserved_seq = ? WHERE id = ?", (upto, session))

        async def reserve() -> None:
            try:
                await self._database.run(write)
            except sqlite3.Error as error:
                log.warning("sequence numbers could not be reserved: %s", type(error).__name__)

        self._keep(reserve())

    def _keep(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
