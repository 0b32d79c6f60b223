"""One turn, from the user's message to ``turn.done``.

A turn knows no session and no client: it is given what it needs and emits frames. Once it is
stopped it emits nothing more, whatever its provider still does.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic

from server.agent.images import ImageError
from server.agent.prompt import ChatPrompt
from server.agent.references import resolve
from server.agent.sight import sort_pictures
from server.agent.vision import Context as VisionContext
from server.agent.vision import Vision
from server.config.switches import Effective
from server.errors import PetError
from server.messages import render
from server.models.events import RoleModel
from server.models.hub import ModelHub
from server.models.tokens import count_prompt, count_tokens, prompt_was_cut
from server.protocol import (
    ErrorCode,
    Image,
    Locale,
    Notice,
    Role,
    ServerMessage,
    Timing,
    TurnDone,
    TurnError,
    TurnRoute,
    Usage,
    Waiting,
)
from server.protocol import Vision as VisionFrame
from server.session.asking import ChatSettings, Outcome, fitted, speculate, stream_reply
from server.session.gathering import Gathered, GatherServices, Question, find_way, gather
from server.session.history import History, Message, MessageState, new_id, now
from server.session.prompting import Found, Told, chat_context, chat_prompt
from server.session.reply import Reply
from server.session.speculation import Speculation
from server.session.toolwork import ToolWork
from server.session.usage import UsageLedger
from server.session.waiting import WaitingLine

log = logging.getLogger(__name__)

FIRST_TOKEN_S = 90.0
_CHECKPOINT_S = 1.0
_STOP_S = 2.0


@dataclass(frozen=True, slots=True)
class TurnInput:
    """What one turn is about.

    Attributes:
        message: the user's message, already stored.
        images: the pictures that came with it.
        tools: what gathering needs, with the configuration of this moment.
        vision_context: how much of the chat the vision model sees.
        daily_tokens: today's cap, 0 = none.
    """

    number: int
    message: Message
    images: Sequence[Image]
    told: Told
    locale: Locale
    settings: ChatSettings
    tools: GatherServices
    vision_context: VisionContext = "chat"
    daily_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TurnServices:
    """What the turns of a session share.

    Attributes:
        allowed: what both switches leave on.
        warned: what was already told once, by code, provider and model.
    """

    hub: ModelHub
    history: History
    usage: UsageLedger
    vision: Vision
    allowed: Callable[[], Effective]
    first_token_s: float = FIRST_TOKEN_S
    warned: set[tuple[str, str, str]] = field(default_factory=set)


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
        self._said_all = False
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
        await self._store("whole" if self._said_all else "interrupted")
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
        given, services = self._given, self._services
        self._check_daily_tokens()
        chat = await services.hub.resolve("chat")
        question = await self._hear()
        sees = bool(chat.capabilities.vision)
        way = await find_way(question, given.tools, chat, pictures_unseen=not sees)
        self._emit(TurnRoute(turn=self.number, path=way.path, reasons=way.reasons))
        gathered = Gathered()
        try:
            with WaitingLine(given.told.persona.waiting, self._wait):
                gathered = await gather(
                    way,
                    question,
                    given.tools,
                    ToolWork(self.number, given.tools.bench, services.allowed, self._emit),
                    chat_context(chat, given.settings),
                    lambda: speculate(services.hub, chat, self._prompt(chat, Found()), given.settings),
                )
                found = await self._look(question, gathered, sees)
            self._warn_of_tools(way.tool_model, gathered)
            outcome = await self._answer_in(self._prompt(chat, found), chat, gathered.begun)
        finally:
            if gathered.begun is not None:
                await gathered.begun.discard()
            await given.tools.bench.save()
        self._said_all = True
        await self._store("whole")
        self._warn_of_cut_prompt(chat, outcome)
        self._finish(
            TurnDone(
                turn=self.number,
                message_id=self._answer.id,
                text=self._reply.text,
                finish_reason=outcome.finish_reason,
                usage=await self._count(outcome, gathered, found),
                timing=Timing(
                    first_delta_ms=self._first_delta_ms,
                    total_ms=self._elapsed_ms(),
                    tool_ms=gathered.ms,
                ),
            )
        )

    async def _answer_in(self, prompt: ChatPrompt, chat: RoleModel, begun: Speculation | None) -> Outcome:
        given, services = self._given, self._services
        try:
            return await stream_reply(
                services.hub, chat, prompt, self._reply, given.settings, services.first_token_s, begun=begun
            )
        except asyncio.CancelledError:
            await self._count_cut_short(prompt, chat)
            raise
        except PetError:
            if not self._reply.blank:
                await self._count_cut_short(prompt, chat)
            raise

    async def _hear(self) -> Question:
        """Takes in the user's message, with the pictures that came with it."""
        given, bench = self._given, self._given.tools.bench
        refs = []
        for image in given.images:
            try:
                refs.append(await bench.images.add(base64.b64decode(image.data), image.mime))
            except ImageError as error:
                self._emit(self._warning("image_unreadable", reason=str(error)))
        words, told = given.message.text, given.told
        page = told.context.get("page", {}).get("url")
        before = told.before
        question = Question(words, told.context, before, refs, resolve(words, bench.state))
        bench.heard(words, refs, page)
        return question

    async def _look(self, question: Question, gathered: Gathered, sees: bool) -> Found:
        """Sorts the turn's pictures; those that the chat model can't see are described for it."""
        loop, bench = gathered.loop, self._given.tools.bench
        meant = [reference.value for reference in question.references if reference.kind == "image"]
        given_by_tools = loop.pictures if loop is not None else []
        sight = sort_pictures([*meant, *question.pictures, *given_by_tools], bench.images, chat_sees=sees)
        if not sight.described and not sight.lost:
            return Found(loop, sight)
        vision = await self._services.vision.describe(
            sight.described,
            question.words,
            recent=question.before,
            context=self._given.vision_context,
            lost=sight.lost,
        )
        if sight.described:
            self._emit(
                VisionFrame(
                    turn=self.number,
                    images=len(sight.described),
                    outcome=vision.outcome,
                    ms=vision.ms,
                )
            )
        if vision.problem is not None:
            locale = self._given.locale
            message = render("turn.image_not_seen", locale, reason=vision.problem.message(locale))
            self._emit(Notice(level="warning", code="image_not_seen", message=message))
        return Found(loop, sight, vision)

    def _prompt(self, chat: RoleModel, found: Found) -> ChatPrompt:
        given = self._given
        share = given.tools.agent.tool_loop.max_trace_share
        return chat_prompt(given.told, found, chat, given.settings, share)

    async def _count(self, outcome: Outcome, gathered: Gathered, found: Found) -> dict[Role, Usage]:
        """Counts the answer; returns what each role's provider told, for the clients. What tools and eyes
        cost was counted as it came."""
        await self._services.usage.add("chat", outcome.usage or outcome.estimated)
        spent: dict[Role, Usage | None] = {
            "chat": outcome.usage,
            "tool": gathered.loop.usage if gathered.loop is not None else None,
            "vision": found.vision.usage if found.vision is not None else None,
        }
        return {role: usage for role, usage in spent.items() if usage is not None and usage != Usage()}

    async def _count_cut_short(self, prompt: ChatPrompt, chat: RoleModel) -> None:
        """An answer that was stopped or broke off has cost its prompt and what was said."""
        sent = count_prompt(fitted(prompt, chat, self._given.settings))
        said = count_tokens(self._reply.text)
        await self._services.usage.add("chat", Usage(prompt=sent, completion=said))

    def _wait(self, line: str) -> None:
        self._emit(Waiting(turn=self.number, text=line))

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

    def _warn_of_cut_prompt(self, chat: RoleModel, outcome: Outcome) -> None:
        if outcome.usage is not None and prompt_was_cut(outcome.usage, outcome.estimated.prompt):
            self._warn_once(
                "prompt_truncated", chat, read=outcome.usage.prompt, sent=outcome.estimated.prompt
            )

    def _warn_of_tools(self, tool_model: RoleModel | None, gathered: Gathered) -> None:
        loop = gathered.loop
        if loop is None or tool_model is None:
            return
        if loop.stopped == "unreachable":
            self._warn_once("tools_unreachable", tool_model)
        if loop.tools_refused:
            self._warn_once("tools_refused", tool_model)
        if loop.dropped:
            self._warn_once("tools_dropped", tool_model, tools=", ".join(loop.dropped))
        if loop.cut_prompt is not None:
            read, sent = loop.cut_prompt
            self._warn_once("prompt_truncated", tool_model, read=read, sent=sent)

    def _warn_once(self, code: str, model: RoleModel, **params: str | int) -> None:
        key = (code, model.provider, model.model)
        if key not in self._services.warned:
            self._services.warned.add(key)
            self._emit(self._warning(code, provider=model.provider, model=model.model, **params))

    async def _fail(self, error: PetError) -> None:
        try:
            self._reply.close()
        except Exception:
            log.exception("turn %d: the rest of the reply could not be shown", self.number)
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
            # Not awaited itself: whoever cancels this turn must not cancel what is being stored.
            await asyncio.wait({self._storing})
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
