"""Answers the requests that start no turn: status, models, settings, the chat as it is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from server import __version__
from server.config.problems import Trouble
from server.config.projection import public_settings
from server.config.schema import Config
from server.config.store import ConfigStore
from server.errors import PetError
from server.messages import render
from server.models.hub import ModelHub
from server.protocol import (
    Avatar,
    AvatarTouch,
    Capability,
    Chat,
    ChatHistory,
    ClientFrame,
    ConsentAnswer,
    ContextUpdate,
    Hello,
    Image,
    Limits,
    Locale,
    MemoryCounts,
    Models,
    ModelsList,
    ModelsSelect,
    Notice,
    Ok,
    ProviderTest,
    SayRequest,
    ServerMessage,
    Settings,
    SettingsFrame,
    SettingsGet,
    SettingsUpdate,
    StatusFrame,
    StatusRequest,
    Welcome,
)
from server.session.consent import StandingConsents
from server.session.context import clean, storable
from server.session.history import Message
from server.session.manager import SessionManager
from server.session.session import Asker, Session
from server.session.usage import UsageLedger
from server.storage.database import Database
from tools.registry import Registry

Admit = Callable[[str, str, Sequence[Image]], Awaitable[None]]
"""Checks address, text and images of a message against the limits; raises PetError."""


_ASKED: Final[Mapping[str, Capability]] = {"tools.screenshot": "screenshot", "tools.checks": "checks"}
"""Switches whose change makes an earlier consent void."""


class Desk:
    """What all clients are served from.

    Args:
        admit: refuses a message that breaks a limit, before anything is spent on it.
        max_frame_bytes: the largest frame that the socket takes.
    """

    def __init__(
        self,
        sessions: SessionManager,
        store: ConfigStore,
        hub: ModelHub,
        usage: UsageLedger,
        database: Database,
        registry: Registry,
        consents: StandingConsents,
        admit: Admit,
        max_frame_bytes: int,
    ) -> None:
        self.admit = admit
        self._sessions = sessions
        self._store = store
        self._hub = hub
        self._usage = usage
        self._stored_in = database
        self._registry = registry
        self._consents = consents
        self._max_frame_bytes = max_frame_bytes
        self._update_order = asyncio.Lock()
        self._updating: Asker | None = None

    async def session_for(self, hello: Hello) -> Session:
        """The session that ``hello`` asks for; the shared one where that doesn't exist any more."""
        if hello.new:
            return await self._sessions.create()
        named = await self._sessions.find(hello.session) if hello.session else None
        return named or await self._sessions.shared()

    def welcome(self, session: Session, *, seq: int, resumed: bool) -> Welcome:
        state, config = session.state(), self._store.config
        return Welcome(
            session=session.id,
            role="owner",
            seq=seq,
            resumed=resumed,
            state=state.state,
            detail=state.detail,
            guide=state.guide,
            settings=Settings(revision=self._store.revision, values=self._settings()),
            avatar=Avatar(
                renderer=config.avatar.renderer,
                model=config.avatar.model,
                motions={name: motion.model_dump() for name, motion in config.avatar.motions.items()},
                expressions={str(name): value for name, value in config.avatar.expressions.items()},
            ),
            commands=[],
            limits=Limits(
                max_frame_bytes=self._max_frame_bytes,
                max_text_chars=config.limits.max_text_chars,
                max_images=config.limits.max_images,
                max_image_bytes=config.limits.max_image_bytes,
                turns_per_minute=config.limits.turns_per_minute,
            ),
            version=__version__,
        )

    def standing_notices(self, locale: Locale) -> list[Notice]:
        """What every client should hear when it comes, as long as it is so."""
        notices = []
        if self._stored_in.problem is not None:
            code = f"history_{self._stored_in.problem}"
            message = render(f"session.{code}", locale)
            notices.append(Notice(level="warning", code=code, message=message))
        if self._store.problems:
            trouble = Trouble("config.kept_last_good", problems=self._store.problems)
            message = trouble.message(locale)
            notices.append(Notice(level="error", code="configuration", message=message))
        return notices

    async def require_model(self) -> None:
        """Raises PetError where no chat model can answer."""
        await self._hub.resolve("chat")

    async def answer(self, frame: ClientFrame, session: Session, asker: Asker) -> ServerMessage | None:
        """The answer to ``frame``; None when the asker has already got it with everybody else."""
        match frame:
            case StatusRequest():
                return self._status(session)
            case ModelsList(provider=provider):
                self._require_provider(provider)
                return Models(provider=provider, models=await self._hub.list_models(provider))
            case ProviderTest(provider=provider):
                self._require_provider(provider)
                return await self._hub.test(provider, session.locale)
            case ModelsSelect(role=role, provider=provider, model=model, supports_vision=vision):
                await self._store.select_model(role, provider, model, vision)
                return Ok()
            case SettingsGet():
                return self._settings_frame()
            case SettingsUpdate(revision=revision, changes=changes):
                return await self._update_settings(revision, changes, asker)
            case ChatHistory(limit=limit, before=before):
                return chat(await session.history.page(limit, before))
            case ContextUpdate(source=source, text=text, ttl_s=ttl_s):
                session.note(clean(source), clean(text), ttl_s)
                return Ok()
            case ConsentAnswer(consent_id=consent_id, answer=answer):
                if not session.bench.consents.answer(consent_id, answer):
                    raise PetError("not_found", "session.no_open_question")
                return Ok()
            case SayRequest(text=text, expression=expression):
                session.say(self._speakable(text), expression, asker.name)
                return Ok()
            case AvatarTouch():
                return Ok()
        raise PetError("bad_request", "session.unanswerable")

    def config_changed(self, _old: Config, _new: Config) -> None:
        """Tells every client what the settings are now; who asked for the change gets its answer."""
        asker, self._updating = self._updating, None
        for session in self._sessions:
            session.emit(self._settings_frame(), asker)

    def connection_changed(self) -> None:
        for session in self._sessions:
            session.tell_state()

    async def _update_settings(
        self, revision: str, changes: dict[str, object], asker: Asker
    ) -> ServerMessage | None:
        async with self._update_order:
            self._updating = asker
            try:
                await self._store.update(revision, changes)
                for capability in _ASKED.keys() & changes.keys():
                    await self._consents.forget(_ASKED[capability])
                told = self._updating is None
            finally:
                self._updating = None
        return None if told else self._settings_frame()

    def _status(self, session: Session) -> StatusFrame:
        state = session.state()
        return StatusFrame(
            version=__version__,
            state=state.state,
            detail=state.detail,
            guide=state.guide,
            roles=self._hub.roles(),
            usage_today=self._usage.today(),
            memory=MemoryCounts(),
            mcp=self._registry.mcp_status(session.locale),
            tools=self._registry.status(),
            workspace=None,
            sessions=len(self._sessions),
        )

    def _settings_frame(self) -> SettingsFrame:
        return SettingsFrame(revision=self._store.revision, values=self._settings())

    def _settings(self) -> dict[str, object]:
        return public_settings(self._store.config, self._store.switches)

    def _speakable(self, text: str) -> str:
        """Another agent's words, within the limits of a message."""
        text, limit = storable(text).strip(), self._store.config.limits.max_text_chars
        if not text:
            raise PetError("bad_request", "gateway.empty")
        if len(text) > limit:
            raise PetError("too_large", "gateway.text_too_long", length=len(text), limit=limit)
        return text

    def _require_provider(self, provider: str) -> None:
        if provider not in self._store.config.llm.providers:
            raise PetError("not_found", "session.no_such_provider", provider=provider[:64])


def chat(messages: Sequence[Message]) -> Chat:
    return Chat(messages=[message.on_wire() for message in messages])
