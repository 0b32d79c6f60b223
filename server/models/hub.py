"""Which model answers, whether it can be reached, and its stream: the face of the model layer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from server.config.keys import KeyStore
from server.config.schema import Config
from server.config.store import ConfigStore
from server.errors import PetError
from server.models import probe
from server.models.chat import Patience, stream_chat
from server.models.choice import Choice, Offer, choose_chat, choose_other
from server.models.client import Client, load_openai
from server.models.complete import RefusedTools, complete, probe_tools
from server.models.completion import Completion, Wanted
from server.models.connections import Connections
from server.models.events import ChatEvent, Connection, Finish, ReasoningDelta, RoleModel, TextDelta
from server.models.failure import Asked
from server.models.listing import Survey
from server.models.offers import ROLES, collect_offers, describe_builtin, run_builtin
from server.models.profile import Memory, Profiles
from server.models.provider import Flavour, Provider
from server.protocol import Locale, ProviderTested, Role, RoleStatus

__all__ = ["ChatEvent", "Connection", "Finish", "ModelHub", "ReasoningDelta", "RoleModel", "TextDelta"]

log = logging.getLogger(__name__)

_T = TypeVar("_T")

_LOOK_AGAIN_S: Final = (5.0, 30.0)  # first and longest pause while no real model answers
_TESTING: Final = Connection("testing-connection")
_LOST: Final = frozenset({"provider_unreachable", "provider_auth", "needs_model"})


class ModelHub:
    """One for each companion. Nothing is probed or started before :meth:`start` or the first question.

    Args:
        patience: how often and how long requests are tried.
        look_again_s: first and longest pause between looks for a model while no real one answers.
    """

    def __init__(
        self,
        store: ConfigStore,
        keys: KeyStore,
        data_dir: Path,
        *,
        patience: Patience | None = None,
        look_again_s: tuple[float, float] = _LOOK_AGAIN_S,
    ) -> None:
        self._store = store
        self._patience = patience or Patience()
        self._look_again_s = look_again_s
        self._profiles = Profiles(data_dir)
        self._refused_tools = RefusedTools()
        self._connections = Connections(lambda: store.config, keys, store.path.parent)
        self._connection = _TESTING
        self._callbacks: list[Callable[[Connection], None]] = []
        self._offers: dict[str, Offer] = {}
        self._choices: dict[Role, Choice] = {}
        self._under_test: Counter[str] = Counter()
        self._asked_context: set[tuple[str, str]] = set()
        self._described: int | None = None
        self._looking = asyncio.Lock()
        self._looked = asyncio.Event()
        self._wake = asyncio.Event()
        self._watcher: asyncio.Task[None] | None = None
        self._look_task: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._unsubscribe: Callable[[], None] | None = None

    # --- its life ---------------------------------------------------------------------------

    async def start(self) -> None:
        """Looks for the models in the background, and again whenever that may help."""
        self._unsubscribe = self._store.subscribe(self._config_changed)
        self._watcher = asyncio.create_task(self._watch())

    async def aclose(self) -> None:
        """Ends every request, client and child, within three seconds."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        tasks = [task for task in (*self._tasks, self._watcher, self._look_task) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._connections.aclose()

    @property
    def connection(self) -> Connection:
        return self._connection

    def subscribe(self, callback: Callable[[Connection], None]) -> Callable[[], None]:
        """Calls ``callback`` whenever a user would see a difference. Returns what ends that."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback)

    def look_again(self) -> None:
        """Looks for the models at once, without showing it."""
        self._wake.set()

    # --- roles ------------------------------------------------------------------------------

    async def resolve(self, role: Role) -> RoleModel:
        """The model that fills ``role`` now; waits for a first look that still runs.

        Raises:
            PetError: ``needs_model`` or a ``provider_*`` code: nothing can be asked.
        """
        while not self._looked.is_set():
            await (self._looked.wait() if self._watcher else self._look())
        choice = self._choices[role]
        if choice.pick is None:
            error = choice.connection.error or PetError(
                "needs_model", "models.nothing_connected", hint="models.connect_one"
            )
            raise error.with_traceback(None)  # the same one each time: it must not collect tracebacks
        pick = choice.pick
        provider = self._connections.provider(pick.provider)
        profile = self._memory(provider, pick.model).profile
        return RoleModel(
            provider=pick.provider,
            model=pick.model,
            capabilities=profile.capabilities(
                vision=self._store.config.agent.models.role(role).supports_vision
            ),
            context_tokens=profile.context_tokens,
            local=provider.local,
            demo=pick.demo,
        )

    def roles(self) -> dict[Role, RoleStatus]:
        """The roles that a model fills, as the last look found them."""
        filled: dict[Role, RoleStatus] = {}
        for role, choice in self._choices.items():
            if choice.pick is None or (offer := self._offers.get(choice.pick.provider)) is None:
                continue
            if offer.provider is not None:
                profile = self._memory(offer.provider, choice.pick.model).profile
                seen = self._store.config.agent.models.role(role).supports_vision
                filled[role] = RoleStatus(
                    provider=choice.pick.provider,
                    model=choice.pick.model,
                    capabilities=profile.capabilities(vision=seen),
                    context_tokens=profile.context_tokens,
                )
        return filled

    def lists(self, model: RoleModel) -> bool | None:
        """Whether its provider's list has ``model``, as the last look found it; None where nothing tells."""
        offer = self._offers.get(model.provider)
        return offer.found.lists(model.model) if offer and isinstance(offer.found, Survey) else None

    # --- providers --------------------------------------------------------------------------

    async def list_models(self, provider: str) -> list[str]:
        """The provider's own list, sorted; empty where it has none. Works without :meth:`start`.

        Raises:
            PetError: ``not_found``, ``needs_model`` or a ``provider_*`` code.
        """
        known = self._connections.provider(provider)
        if known.builtin:
            return [(await asyncio.to_thread(self._connections.file_of, known)).model]
        found = await probe.survey(await self._connections.client(known))
        return sorted(model.id for model in found.models or ())

    async def test(self, provider: str, locale: Locale = "en") -> ProviderTested:
        """Whether the provider answers and takes the key. Works without :meth:`start`; never raises."""
        self._under_test[provider] += 1
        try:
            known = self._connections.provider(provider)
            found = await probe.survey(await self._connections.client(known))
        except PetError as error:
            return ProviderTested(provider=provider, ok=False, code=error.code, message=error.message(locale))
        finally:
            self._under_test[provider] -= 1
            self._connections.let_go(self._needed())
        return ProviderTested(provider=provider, ok=True, latency_ms=found.latency_ms)

    async def stream_chat(
        self, model: RoleModel, messages: Sequence[Mapping[str, Any]], *, temperature: float
    ) -> AsyncGenerator[ChatEvent]:
        """The reply of ``model``; closing it aborts the request.

        Raises:
            PetError: as :func:`server.models.chat.stream_chat` does.
        """
        provider = self._connections.provider(model.provider)
        memory = self._memory(provider, model.model)
        shown = again = False
        while True:
            try:
                client = await self._connections.client(provider)
                asked = Asked(client.provider, model.model, self._flavour(model.provider))
                events = stream_chat(
                    client, asked, memory, messages, temperature=temperature, patience=self._patience
                )
                async with aclosing(events):
                    async for event in events:
                        shown = True
                        yield event
                self._answered(provider, model.model)
                return
            except PetError as error:
                if not shown and not again and await self._connections.lost_child(provider):
                    again = True
                    continue
                if error.code in _LOST:
                    self.look_again()
                raise

    async def complete(
        self,
        model: RoleModel,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        response_format: Mapping[str, Any] | None = None,
        temperature: float = 0.0,
        max_tokens: int | None = None,
        instead: Wanted | None = None,
    ) -> Completion:
        """The whole answer of ``model``; what its provider refuses is left out, and remembered.

        Args:
            tools: in the form of chat completions (:func:`server.models.tool_schema.tool_definition`).
            instead: what is asked where the model takes no tools; None = the same without them.

        Raises:
            PetError: as :func:`server.models.chat.stream_chat` does.
        """
        wanted = Wanted(messages, tuple(tools or ()), None, response_format, temperature, max_tokens, instead)
        ask = partial(complete, wanted=wanted, patience=self._patience, refused_tools=self._refused_tools)
        return await self._ask(model, ask)

    async def calls_tools(self, model: RoleModel) -> bool:
        """Whether ``model`` calls tools natively; asks it once where that isn't known yet.

        Raises:
            PetError: as :meth:`complete` does.
        """
        return await self._ask(model, partial(probe_tools, patience=self._patience))

    async def _ask(
        self, model: RoleModel, ask: Callable[[Client, Asked, Memory], Coroutine[Any, Any, _T]]
    ) -> _T:
        """Asks ``model`` for something whole, once more where its child died meanwhile."""
        provider = self._connections.provider(model.provider)
        memory = self._memory(provider, model.model)
        again = False
        while True:
            try:
                client = await self._connections.client(provider)
                asked = Asked(client.provider, model.model, self._flavour(model.provider))
                answer = await ask(client, asked, memory)
                self._answered(provider, model.model)
                return answer
            except PetError as error:
                if not again and await self._connections.lost_child(provider):
                    again = True
                    continue
                if error.code in _LOST:
                    self.look_again()
                raise

    # --- looking ----------------------------------------------------------------------------

    async def _watch(self) -> None:
        first, longest = self._look_again_s
        pause = first
        while True:
            self._wake.clear()
            self._look_task = asyncio.create_task(self._look())
            try:
                await asyncio.wait({self._look_task})
            finally:
                self._look_task.cancel()
            if not self._look_task.cancelled() and (fault := self._look_task.exception()) is not None:
                log.error("looking for the models failed", exc_info=fault)
            if self._looked.is_set() and self._choices["chat"].settled:
                pause = first
                await self._wake.wait()
                continue
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()
            pause = first if self._wake.is_set() else min(pause * 1.6, longest)

    async def _look(self) -> None:
        """Asks what is on offer, then chooses."""
        async with self._looking:
            config = self._store.config
            offers = await collect_offers(config, self._connections)
            self._spawn(load_openai())
            chat = await run_builtin(choose_chat(config, offers), offers, self._connections)
            if _concern(config) != _concern(self._store.config):
                return
            self._offers = offers
            self._choices = {"chat": chat}
            for role in ROLES[1:]:
                self._choices[role] = choose_other(config, role, chat, offers)
            await self._learn()
            self._looked.set()
            self._tell(chat.connection)
            self._connections.let_go(self._needed())
        if chat.pick is not None and (provider := offers[chat.pick.provider].provider) is not None:
            self._spawn(self._warm(provider))

    async def _learn(self) -> None:
        """Remembers what was told about the models that fill a role."""
        for pick in {choice.pick for choice in self._choices.values() if choice.pick is not None}:
            offer = self._offers[pick.provider]
            if offer.provider is None or not isinstance(offer.found, Survey):
                continue
            listed = offer.found.model(pick.model)
            child = self._connections.child_of(offer.provider)
            if child is not None and child != self._described:
                with contextlib.suppress(PetError):
                    listed = await describe_builtin(offer.provider, pick.model, self._connections)
                    self._described = child
            if listed is not None:
                self._memory(offer.provider, pick.model).learn(
                    vision=listed.vision, tools=listed.tools, context_tokens=listed.context_tokens
                )

    async def _warm(self, provider: Provider) -> None:
        with contextlib.suppress(PetError):
            await (await self._connections.client(provider)).warm()

    def _answered(self, provider: Provider, model: str) -> None:
        """A good answer tells that the provider is back; Ollama says only now which context the model got."""
        context_unknown = (
            self._flavour(provider.name) == "ollama"
            and self._memory(provider, model).profile.context_tokens is None
            and (provider.name, model) not in self._asked_context
        )
        if context_unknown:
            self._asked_context.add((provider.name, model))
        if context_unknown or self._connection.state != "ready":
            self.look_again()

    def _config_changed(self, old: Config, new: Config) -> None:
        if _concern(old) != _concern(new):
            self._looked.clear()
            self._tell(_TESTING)
            if self._look_task is not None:
                self._look_task.cancel()
        elif old != new:
            return
        self._wake.set()  # a key that was entered changes nothing in the file

    def _tell(self, connection: Connection) -> None:
        if connection.same_as(self._connection):
            return
        self._connection = connection
        for callback in tuple(self._callbacks):
            try:
                callback(connection)
            except Exception:
                log.exception("a part of the program could not take over the connection's state")

    def _needed(self) -> set[str]:
        """The providers that fill a role or are being tested."""
        filling = {choice.pick.provider for choice in self._choices.values() if choice.pick is not None}
        return filling | {provider for provider, tests in self._under_test.items() if tests}

    def _flavour(self, provider: str) -> Flavour | None:
        offer = self._offers.get(provider)
        return offer.found.flavour if offer is not None and isinstance(offer.found, Survey) else None

    def _memory(self, provider: Provider, model: str) -> Memory:
        return Memory(self._profiles, provider.base_url or "builtin", model)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _concern(config: Config) -> tuple[object, ...]:
    """What of the configuration decides who answers."""
    return (config.llm, config.agent.models, config.agent.enable_vision, config.chat.context_tokens)
