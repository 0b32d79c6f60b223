"""The sessions of this process: the owner's shared one, those asked for, and when they are let go."""

from __future__ import annotations

import asyncio
import logging
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from time import monotonic

from server.agent.persona import load_persona
from server.agent.prompt import Exchange
from server.agent.vision import Vision
from server.config.store import ConfigStore
from server.models.hub import ModelHub
from server.protocol import Capability, ConsentRequest
from server.session.asking import ChatSettings
from server.session.consent import Consents, StandingConsents
from server.session.gathering import GatherServices
from server.session.history import History, Message, now
from server.session.prompting import Told
from server.session.replay import SEQ_BLOCK
from server.session.session import NewMessage, Session, Stored
from server.session.turn import FIRST_TOKEN_S, TurnInput, TurnServices
from server.session.usage import UsageLedger
from server.session.workbench import Workbench
from server.storage.database import Database
from server.storage.file import Problem
from tools.registry import Registry

log = logging.getLogger(__name__)

RESUME_S = 600.0
MAX_SESSIONS = 256


@dataclass(frozen=True, slots=True)
class SessionServices:
    """What all sessions share.

    Attributes:
        persona, tool_router: the owner's own prompts, or None for those that ship.
        first_token_s: how long the chat model may take to begin.
    """

    database: Database
    store: ConfigStore
    hub: ModelHub
    usage: UsageLedger
    registry: Registry
    vision: Vision
    consents: StandingConsents
    persona: Callable[[], str | None]
    tool_router: Callable[[], str | None]
    first_token_s: float = FIRST_TOKEN_S


class SessionManager:
    """Opens sessions and lets them go."""

    def __init__(self, services: SessionServices) -> None:
        self._services = services
        self._database = services.database
        self._warned: set[tuple[str, str, str]] = set()
        self._sessions: dict[str, Session] = {}
        self._shared: Session | None = None
        self._opening = asyncio.Lock()
        self._database.subscribe(self._storage_changed)

    def __iter__(self) -> Iterator[Session]:
        return iter(tuple(self._sessions.values()))

    def __len__(self) -> int:
        return len(self._sessions)

    async def shared(self) -> Session:
        """The session that all of the owner's clients share."""
        async with self._opening:
            if self._shared is None:
                self._shared = await self._open(await self._stored_shared(), is_shared=True)
            return self._shared

    async def find(self, session: str) -> Session | None:
        """The session with this id, from memory or from the database."""
        if session in self._sessions:
            return self._sessions[session]
        shared = await self.shared()
        if shared.id == session:
            return shared
        stored = await self._read(session)
        return await self._open(stored) if stored else None

    async def create(self) -> Session:
        """A new, empty session; it is stored with its first message."""
        for session in self._idle()[: max(0, len(self._sessions) - MAX_SESSIONS + 1)]:
            await self._forget(session)
        return await self._open(Stored(secrets.token_hex(16), last_turn=0, newest_seq=0))

    async def let_go(self) -> None:
        """Drops sessions that nobody has listened to for ``RESUME_S``; their chat stays stored."""
        for session in self._idle():
            if monotonic() - session.idle_since > RESUME_S and await session.history.save():
                await self._forget(session)

    def _idle(self) -> list[Session]:
        """Those that may go, the longest unheard first."""
        idle = [
            session
            for session in self
            if session is not self._shared and not session.listened and not session.running
        ]
        return sorted(idle, key=lambda session: session.idle_since)

    def _storage_changed(self, problem: Problem | None) -> None:
        for session in self:
            if problem is None:
                session.notice("info", "session.saved_again")
            else:
                session.notice("warning", f"session.history_{problem}")

    async def _forget(self, session: Session) -> None:
        del self._sessions[session.id]
        await session.close()

    async def close(self) -> None:
        for session in self:
            await session.close()
            await session.history.save()
        self._sessions.clear()
        self._shared = None

    async def _open(self, stored: Stored, *, is_shared: bool = False) -> Session:
        if stored.id in self._sessions:
            return self._sessions[stored.id]
        shared = self._services
        opened: list[Session] = []

        def ask(turn: int, question: str, capability: Capability, detail: str) -> None:
            for session in opened:
                session.emit(
                    ConsentRequest(turn=turn, consent_id=question, capability=capability, detail=detail)
                )

        def listened() -> bool:
            return any(session.listened for session in opened)

        history = History(self._database, stored.id, shared=is_shared, first_seq=stored.newest_seq)
        bench = Workbench(self._database, stored.id, Consents(shared.consents, ask, listened))
        services = TurnServices(
            hub=shared.hub,
            history=history,
            usage=shared.usage,
            vision=shared.vision,
            allowed=shared.store.effective,
            first_token_s=shared.first_token_s,
            warned=self._warned,
        )
        session = Session(
            stored, self._database, services, bench, self._prepare, lambda: shared.hub.connection
        )
        opened.append(session)
        self._sessions[stored.id] = session
        await history.load()
        await bench.load()
        return session

    def _prepare(
        self,
        session: Session,
        number: int,
        asked: Message,
        message: NewMessage,
        before: Sequence[Message],
    ) -> TurnInput:
        services, config = self._services, self._services.store.config
        told = Told(
            words=asked.text,
            before=[Exchange(earlier.role, earlier.text) for earlier in before],
            context=message.context,
            notes=session.fresh_notes(),
            facts={"local time": datetime.now().astimezone().strftime("%A, %Y-%m-%d %H:%M %Z")},
            persona=load_persona(session.locale, services.persona()),
        )
        return TurnInput(
            number=number,
            message=asked,
            images=message.images,
            told=told,
            locale=session.locale,
            settings=ChatSettings(
                temperature=config.chat.temperature,
                max_recent_messages=config.chat.max_recent_messages,
                context_tokens=config.chat.context_tokens,
            ),
            tools=GatherServices(
                hub=services.hub,
                registry=services.registry,
                bench=session.bench,
                usage=services.usage,
                agent=config.agent,
                tools=config.tools,
                router=services.tool_router(),
            ),
            vision_context=config.agent.models.vision.context,
            daily_tokens=config.limits.daily_tokens,
        )

    async def _stored_shared(self) -> Stored:
        try:
            row = await self._database.read(
                lambda connection: connection.execute("SELECT id FROM sessions WHERE shared = 1").fetchone()
            )
        except sqlite3.Error:
            row = None
        stored = await self._read(row[0]) if row else None
        return stored or await self._insert_shared()

    async def _read(self, session: str) -> Stored | None:
        def read(connection: sqlite3.Connection) -> Stored | None:
            row = connection.execute(
                "SELECT last_turn, reserved_seq FROM sessions WHERE id = ?", (session,)
            ).fetchone()
            return Stored(session, last_turn=row[0], newest_seq=row[1]) if row else None

        def reserve(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE sessions SET reserved_seq = reserved_seq + ? WHERE id = ?", (SEQ_BLOCK, session)
            )

        try:
            stored = await self._database.read(read)
        except sqlite3.Error as error:
            log.warning("a session could not be read: %s", type(error).__name__)
            return None
        if stored is not None:
            with suppress(sqlite3.Error):  # its next message reserves them
                await self._database.run(reserve)
        return stored

    async def _insert_shared(self) -> Stored:
        stored = Stored(secrets.token_hex(16), last_turn=0, newest_seq=0)
        try:
            await self._database.run(
                lambda connection: connection.execute(
                    "INSERT INTO sessions (id, shared, created_at, reserved_seq) VALUES (?, 1, ?, ?)",
                    (stored.id, now(), SEQ_BLOCK),
                )
            )
        except sqlite3.Error as error:
            log.warning("a session could not be stored: %s", type(error).__name__)
        return stored
