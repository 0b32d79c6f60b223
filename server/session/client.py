"""One client's side of the protocol: what it asks and what it is answered, without a socket."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from server.errors import PetError
from server.frames import BadFrame, decode, encode
from server.messages import render
from server.protocol import (
    Cancel,
    ChatClear,
    ClientFrame,
    Error,
    ErrorCode,
    Hello,
    Locale,
    Ok,
    Request,
    Send,
    ServerMessage,
)
from server.session.context import clean, sanitise, storable
from server.session.desk import Desk, chat
from server.session.session import Asker, NewMessage, Session

log = logging.getLogger(__name__)
F = TypeVar("F", bound=ClientFrame)

_MIB: Final = 1024 * 1024
MAX_REQUESTS_AT_ONCE: Final = 8


class Client:
    """A connected owner.

    Args:
        deliver: sends one encoded frame to this client; never blocks.
        address: what its turns are counted by.
    """

    def __init__(self, desk: Desk, deliver: Callable[[str], None], address: str) -> None:
        self._desk = desk
        self._deliver = deliver
        self._address = address
        self._session: Session | None = None
        self._locale: Locale = "en"
        self._name = "client"
        self._requests: set[asyncio.Task[None]] = set()

    @property
    def greeted(self) -> bool:
        """Whether it has said hello."""
        return self._session is not None

    def deliver(self, text: str) -> None:
        self._deliver(text)

    async def receive(self, raw: str | bytes) -> None:
        """Takes one frame; whatever is wrong with it is answered, never raised."""
        try:
            frame = decode(raw)
        except BadFrame as bad:
            detail = self._text(f"frames.{bad.kind}", **bad.params)
            self._refuse(bad.re, "bad_frame", self._text("session.bad_frame", detail=detail))
            return
        if isinstance(frame, Hello | Send | Cancel | ChatClear):
            await self._guarded(frame, self._in_order)
        elif len(self._requests) >= MAX_REQUESTS_AT_ONCE:
            self._refuse(frame.id, "busy", self._text("session.busy"))
        else:
            task = asyncio.create_task(self._guarded(frame, self._aside))
            self._requests.add(task)
            task.add_done_callback(self._requests.discard)

    async def leave(self) -> None:
        """The connection is gone: a running turn goes on, this client's requests don't."""
        if self._session is not None:
            self._session.detach(self)
            self._session = None
        for task in tuple(self._requests):
            task.cancel()
        await asyncio.gather(*self._requests, return_exceptions=True)

    def too_large(self, limit: int) -> None:
        """Answers a frame that was larger than ``limit`` bytes."""
        self._refuse(None, "too_large", self._text("session.frame_too_large", limit=limit // _MIB))

    async def _guarded(self, frame: F, work: Callable[[F], Awaitable[None]]) -> None:
        try:
            await work(frame)
        except PetError as error:
            message = error.message(self._locale)
            hint = error.hint(self._locale)
            self._refuse(frame.id, error.code, f"{message} {hint}" if hint else message, error.retry_after_s)
        except Exception:
            log.exception("a request failed")
            self._refuse(frame.id, "internal", self._text("session.internal"))

    async def _in_order(self, frame: Hello | Send | Cancel | ChatClear) -> None:
        if isinstance(frame, Hello):
            await self._hello(frame)
            return
        session = self._in_session()
        asker = Asker(self, frame.id, self._name)
        if isinstance(frame, Send):
            text = storable(frame.text)
            await self._desk.admit(self._address, text, frame.images)
            await self._desk.require_model()
            message = NewMessage(text, frame.images, sanitise(frame.context))
            session.locale = self._locale
            await session.send(message, asker)
        elif isinstance(frame, Cancel):
            if not await session.cancel(frame.turn, asker):
                self._answer(frame, Ok())
        else:
            await session.clear()
            session.emit(chat(()), asker)

    async def _aside(self, frame: ClientFrame) -> None:
        session = self._in_session()
        answer = await self._desk.answer(frame, session, Asker(self, frame.id, self._name))
        if answer is not None:
            self._answer(frame, answer)

    async def _hello(self, frame: Hello) -> None:
        if frame.locale is not None:
            self._locale = frame.locale
        session = await self._desk.session_for(frame)
        if self._session is not None:
            self._session.detach(self)
        self._session = session
        if frame.locale is not None or not session.listened:
            session.locale = self._locale
        if frame.client:
            self._name = clean(frame.client)
        newest = session.newest_seq
        resuming = frame.last_seq if frame.session == session.id else None
        resumed, missed = session.attach(self, resuming)
        self._answer(frame, self._desk.welcome(session, seq=newest, resumed=resumed))
        for text in missed:
            self._deliver(text)
        if not resumed:
            for notice in self._desk.standing_notices(self._locale):
                self._deliver(encode(notice))

    def _in_session(self) -> Session:
        if self._session is None:
            raise PetError("bad_request", "session.hello_first")
        return self._session

    def _answer(self, request: Request, answer: ServerMessage) -> None:
        answer.re = request.id
        self._deliver(encode(answer))

    def _refuse(
        self, re: str | None, code: ErrorCode, message: str, retry_after_s: float | None = None
    ) -> None:
        self._deliver(encode(Error(re=re, code=code, message=message, retry_after_s=retry_after_s)))

    def _text(self, key: str, **params: str | int) -> str:
        return render(key, self._locale, **params)
