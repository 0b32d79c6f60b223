"""One turn, from the user's message to ``turn.done``.

A turn knows no session and no client: it is given what it needs and emits frames. Once it is
stopped it emits nothing more, whatever its provider still does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic

from server.agent.compose import ClientNote, compose
from server.agent.persona import Persona, demo_persona
from server.agent.prompt import ChatPrompt, Exchange
from server.errors import PetError
from server.messages import render
from server.models.events import RoleModel
from server.models.hub import ModelHub
from server.models.tokens import prompt_was_cut
from server.protocol import (
    ErrorCode,
    Image,
    Locale,
    Notice,
    ServerMessage,
    Timing,
    TurnDone,
    TurnError,
    TurnRoute,
)
from server.session.asking import ChatSettings, Outcome, stream_reply
from server.session.context import Context
from server.session.history import History, Message, MessageState, new_id, now
from server.session.reply import Reply
from server.session.usage import UsageLedger

log = logging.getLogger(__name__)

FIRST_TOKEN_S = 90.0
_CHECKPOINT_S = 1.0
_STOP_S = 2.0


@dataclass(frozen=True, slots=True)
class TurnInput:
    """What one turn is about.

    Attributes:
        message: the user's message, already stored.
        before: the chat before it.
        context: what came with it, sanitised.
        notes: fresh context from other clients.
        facts: what the server knows itself, for the model; label to value.
    """

    number: int
    message: Message
    before: Sequence[Message]
    images: Sequence[Image]
    context: Context
    notes: Sequence[ClientNote]
    facts: dict[str, str]
    persona: Persona
    locale: Locale
    settings: ChatSettings
    daily_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TurnServices:
    """What the turns of a session share.

    Attributes:
        cut_models: provider and model of those whose cut prompts were already told.
    """

    hub: ModelHub
    history: History
    usage: UsageLedger
    first_token_s: float = FIRST_TOKEN_S
    cut_models: set[tuple[str, str]] = field(default_factory=set)


class Turn:
    """Runs at once, in a task of its own.

    Args:
        emit: sends one frame to the session's clients.
    """

    def __init__(
        self, given: TurnInput, services: TurnServices, emit: Callable[[ServerMessage], None]
    ) -> None:
        self.number = given.number
        self._given = given
        self._services = services
        self._send = emit
        self.stopped = False
        self._open = True
        self._started = monotonic()
        self._first_delta_ms: int | None = None
        self._reply = Reply(self.number, self._emit, self._on_shown)
        self._answer = Message(
            id=new_id(), turn=self.number, role="assistant", text="", at=now(), state="streaming"
        )
        self._storing: asyncio.Task[None] | None = None
        self._stored_at = 0.0
        self._task = asyncio.create_task(self._run(), name=f"turn-{self.number}")

    @property
    def over(self) -> bool:
        return not self._open

    async def stop(self) -> str:
        """Ends the turn at once and stores what was shown, which is returned; emits nothing."""
        self._open = False
        self.stopped = True
        self._reply.abandon()
        self._task.cancel()
        await asyncio.wait({self._task}, timeout=_STOP_S)
        await self._store("interrupted")
        return self._reply.text

    async def wait(self) -> None:
        """Until the turn is over, however it ends."""
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        try:
            await self._converse()
        except PetError as error:
            await self._fail(error)
        except Exception:
            log.exception("turn %d failed", self.number)
            await self._fail(PetError("internal", "session.internal"))

    async def _converse(self) -> None:
        self._emit(TurnRoute(turn=self.number, path="fast", reasons=["no tools are available"]))
        self._check_daily_tokens()
        model = await self._services.hub.resolve("chat")
        outcome = await stream_reply(
            self._services.hub,
            model,
            self._prompt(model),
            self._reply,
            self._given.settings,
            self._services.first_token_s,
        )
        await self._store("whole")
        await self._services.usage.add("chat", outcome.usage or outcome.estimated)
        self._warn_of_cut_prompt(model, outcome)
        self._finish(
            TurnDone(
                turn=self.number,
                message_id=self._answer.id,
                text=self._reply.text,
                finish_reason=outcome.finish_reason,
                usage={"chat": outcome.usage} if outcome.usage else {},
                timing=Timing(first_delta_ms=self._first_delta_ms, total_ms=self._elapsed_ms()),
            )
        )

    def _prompt(self, model: RoleModel) -> ChatPrompt:
        given = self._given
        sees = bool(model.capabilities.vision)
        if given.images and not sees:
            self._emit(self._warning("image_not_seen", model=model.model))
        composed = compose(
            given.message.text,
            facts={} if model.demo else given.facts,
            context={} if model.demo else given.context,
            notes=() if model.demo else given.notes,
            unseen_images=0 if sees else len(given.images),
        )
        persona = demo_persona() if model.demo else given.persona
        return ChatPrompt(
            system=persona.system,
            recent=[Exchange(message.role, message.text) for message in given.before],
            reminder=persona.reminder,
            composed=composed,
            images=given.images if sees else (),
            sample=persona.sample,
        )

    def _check_daily_tokens(self) -> None:
        cap = self._given.daily_tokens
        if cap and self._services.usage.total_today() >= cap:
            raise PetError(
                "rate_limited",
                "turn.daily_cap",
                hint="turn.daily_cap_hint",
                retry_after_s=self._services.usage.seconds_left_today(),
                tokens=cap,
            )

    def _warn_of_cut_prompt(self, model: RoleModel, outcome: Outcome) -> None:
        if outcome.usage is None or not prompt_was_cut(outcome.usage, outcome.estimated.prompt):
            return
        name = (model.provider, model.model)
        if name in self._services.cut_models:
            return
        self._services.cut_models.add(name)
        self._emit(
            self._warning(
                "prompt_truncated",
                provider=model.provider,
                read=outcome.usage.prompt,
                sent=outcome.estimated.prompt,
            )
        )

    async def _fail(self, error: PetError) -> None:
        self._reply.close()
        log.info("turn %d: %s: %s", self.number, error.code, error)
        await self._store("interrupted", error.code)
        locale = self._given.locale
        self._finish(
            TurnError(
                turn=self.number,
                code=error.code,
                message=error.message(locale),
                hint=error.hint(locale),
                retryable=error.retryable,
            )
        )

    async def _store(self, state: MessageState, error: ErrorCode | None = None) -> None:
        """Stores the reply as far as it was shown; an error without one belongs to the question."""
        history, shown = self._services.history, self._reply.text
        if self._storing is not None:
            await self._storing
            await history.update(self._answer, text=shown, state=state, error=error)
        elif error is not None:
            question = self._given.message
            await history.update(question, text=question.text, state="whole", error=error)

    def _on_shown(self) -> None:
        if self._first_delta_ms is None:
            self._first_delta_ms = self._elapsed_ms()
        if monotonic() - self._stored_at < _CHECKPOINT_S or (self._storing and not self._storing.done()):
            return
        first = self._storing is None
        self._stored_at = monotonic()
        self._storing = asyncio.create_task(self._checkpoint(self._reply.text, first))

    async def _checkpoint(self, shown: str, first: bool) -> None:
        history = self._services.history
        if first:
            await history.add(self._answer.with_text(shown))
        else:
            await history.update(self._answer, text=shown, state="streaming")

    def _finish(self, frame: ServerMessage) -> None:
        self._emit(frame)
        self._open = False

    def _emit(self, frame: ServerMessage) -> None:
        if self._open:
            self._send(frame)

    def _warning(self, code: str, **params: str | int) -> Notice:
        message = render(f"turn.{code}", self._given.locale, **params)
        return Notice(level="warning", code=code, message=message)

    def _elapsed_ms(self) -> int:
        return round((monotonic() - self._started) * 1000)
