"""The one place where everything is wired, started in order and stopped in the reverse order.

Nothing that isn't needed to listen is waited for: models are probed, the file is watched and old
sessions are let go in the background, after the port is open.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic

from server.agent.vision import Vision
from server.config.locate import Location
from server.config.problems import Trouble
from server.config.prompts import resolve_prompt
from server.config.schema import Config
from server.config.store import ConfigStore, needs_restart
from server.gateway.endpoint import MAX_FRAME_BYTES, Gateway
from server.gateway.front import Front
from server.gateway.rates import Admission
from server.gateway.runfile import RunFile
from server.messages import render
from server.models.hub import ModelHub
from server.protocol import Notice
from server.session.client import Client
from server.session.consent import StandingConsents
from server.session.desk import Desk
from server.session.manager import SessionManager, SessionServices
from server.session.metering import Metered
from server.session.turn import FIRST_TOKEN_S
from server.session.usage import UsageLedger
from server.storage.database import Database
from server.toolbox import build_registry
from server.warm import warm_up
from tools.threads import run_blocking

log = logging.getLogger(__name__)

_LET_GO_EVERY_S = 60.0
_STOP_S = 2.5
_STOP_STEP_S = 0.1
"""What each step gets however late it is."""
_REACHED_BY = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}


@dataclass(frozen=True, slots=True)
class Listening:
    """What to listen on instead of what lab.toml says; port 0 takes a free one."""

    host: str | None = None
    port: int | None = None


class App:
    """A running companion; ``async with`` starts and stops it.

    Args:
        first_token_s: how long a chat model may take to begin its answer.
    """

    def __init__(
        self,
        location: Location,
        listening: Listening = Listening(),
        *,
        first_token_s: float = FIRST_TOKEN_S,
    ) -> None:
        self._location = location
        self.store = ConfigStore(location.config, location.data_dir, shown=location.shown)
        server = self.store.config.server
        self.host = listening.host or server.host
        self.port = server.port if listening.port is None else listening.port
        self.hub = ModelHub(self.store, self.store.keys, location.data_dir)
        self._database = Database(location.data_dir / "pet.db")
        self._usage = UsageLedger(self._database)
        self.registry = build_registry(self.store)
        consents = StandingConsents(self._database)
        eyes = Metered(self.hub, "vision", self._usage)
        self.sessions = SessionManager(
            SessionServices(
                database=self._database,
                store=self.store,
                hub=self.hub,
                usage=self._usage,
                registry=self.registry,
                vision=Vision(eyes, lambda: self.store.effective().vision),
                consents=consents,
                persona=lambda: self._prompt(self.store.config.agent.prompts.persona),
                tool_router=lambda: self._prompt(self.store.config.agent.prompts.tool_router),
                first_token_s=first_token_s,
            )
        )
        self._consents = consents
        admission = Admission(self.store)
        self._desk = Desk(
            self.sessions,
            self.store,
            self.hub,
            self._usage,
            self._database,
            self.registry,
            consents,
            admit=admission.admit,
            max_frame_bytes=MAX_FRAME_BYTES,
        )
        self.front = Front(self.store, location.data_dir, lambda: self.hub.connection.state)
        self._gateway = Gateway(self.front, self.admit)
        self._run_file = RunFile(location.data_dir)
        self._background: list[asyncio.Task[None]] = []

    @property
    def url(self) -> str:
        """Where this machine finds the companion, once it listens."""
        host = _REACHED_BY.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    def page_url(self) -> str:
        """The page's address to open once, with a one-time code where the page needs the token."""
        return self.front.page_url(self.url)

    def admit(self, deliver: Callable[[str], None], address: str) -> Client:
        """A new client; ``deliver`` sends it one encoded frame."""
        return Client(self._desk, deliver, address)

    async def __aenter__(self) -> App:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Opens the database and the port, then starts what runs in the background.

        Raises:
            OSError: the port can't be listened on.
        """
        await self._database.open()
        await self._usage.load()
        await self._consents.load()
        try:
            self.port = await self._gateway.listen(self.host, self.port)
        except BaseException:
            await self._database.close()
            raise
        try:
            self._run_file.write(self.url)
        except OSError as error:
            log.warning("run.json can't be written: %s", error.strerror)
        self.store.subscribe(self._config_changed)
        self.store.on_problem(self._config_trouble)
        self.store.on_mended(self._config_mended)
        self.hub.subscribe(lambda _: self._desk.connection_changed())
        await self.hub.start()
        self.registry.start()
        self._run("warming up", lambda: run_blocking(warm_up, "warm-up"))
        self._run("watching lab.toml", self.store.watch)
        self._run("letting sessions go", self._let_go)

    async def stop(self) -> None:
        """Ends in the reverse order; no step may keep the others waiting."""
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        self._run_file.remove()
        self._database.hurry()
        until = monotonic() + _STOP_S
        for name, step in (
            ("sessions", self.sessions.close),
            ("gateway", self._gateway.close),
            ("models", self.hub.aclose),
            ("tools", self.registry.aclose),
            ("database", self._database.close),
        ):
            try:
                async with asyncio.timeout(max(until - monotonic(), _STOP_STEP_S)):
                    await step()
            except TimeoutError:
                log.warning("%s took too long to stop", name)
            except (Exception, asyncio.CancelledError):
                # A step that was cancelled from inside must not keep the others from being stopped.
                log.exception("%s could not be stopped cleanly", name)

    def _run(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        async def guarded() -> None:
            try:
                await work()
            except Exception:
                log.exception("%s failed", name)

        self._background.append(asyncio.create_task(guarded(), name=name))

    async def _let_go(self) -> None:
        while True:
            await asyncio.sleep(_LET_GO_EVERY_S)
            await self.sessions.let_go()

    def _prompt(self, value: str | None) -> str | None:
        """The owner's own prompt, text or file; None means the one that ships."""
        if value is None:
            return None
        try:
            return resolve_prompt(self._location.config, value)
        except (OSError, UnicodeDecodeError) as error:
            log.warning(
                "a prompt's file can't be read (%s); the one that ships is used", type(error).__name__
            )
            return None

    def _config_changed(self, old: Config, new: Config) -> None:
        self._desk.config_changed(old, new)
        keys = needs_restart(old, new)
        for session in self.sessions if keys else ():
            session.notice("info", "session.config_needs_restart", keys=", ".join(keys))

    def _config_trouble(self, trouble: Trouble) -> None:
        for session in self.sessions:
            message = trouble.message(session.locale)
            session.emit(Notice(level="error", code="configuration", message=message))

    def _config_mended(self) -> None:
        for session in self.sessions:
            message = render("config.good_again", session.locale)
            session.emit(Notice(level="info", code="configuration_ok", message=message))
