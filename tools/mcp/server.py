"""One configured server: started, watched, started anew, and ended by one task that owns its connection."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from server.config.schema import McpServer
from tools.contract import CallContext, ToolFailure, ToolInfo, ToolResult
from tools.mcp.naming import public_names
from tools.mcp.reason import Down, Reason
from tools.threads import run_blocking

if TYPE_CHECKING:
    from tools.mcp.link import Link

log = logging.getLogger(__name__)

ServerState: TypeAlias = Literal["starting", "ready", "failed", "restarting"]

SILENT_CALLS: Final = 3
LONGEST_DELAY_S: Final = 60.0
STEADY_S: Final = 60.0
LIST_PAUSE_S: Final = 0.5
CLOSE_S: Final = 1.8
_GRACE_S: Final = 1.0  # whoever called us keeps the time; this is for one who doesn't
_ABANDON_S: Final = 0.3
_WAIT_SHARE: Final = 0.5  # of a call's time, for a server that is just coming back


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool of a server, as one of ours. ``own_name`` is what its server calls it."""

    info: ToolInfo
    own_name: str
    server: Server

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        return await self.server.call(self, arguments, context)


@dataclass(frozen=True, slots=True)
class _End:
    """Why a connection ended; ``at_once`` = nothing speaks against opening the next one immediately."""

    reason: Reason
    was_ready: bool
    at_once: bool = False


class Server:
    """A server's life.

    Args:
        config_dir: where a relative ``cwd`` begins.
        time_limit: the seconds that a call of this tool may take.
        changed: called when its state or its tools are others.

    Attributes:
        state: ``failed`` = it never got ready, or not again; it is tried anew, each time later.
        error: why it isn't ready.
        tools: those it offers and its owner allows; none unless it is ready or just coming back.
        settled: set once its first start has ended well or badly.
    """

    def __init__(
        self,
        name: str,
        settings: McpServer,
        *,
        config_dir: Path,
        time_limit: Callable[[ToolInfo], float],
        changed: Callable[[], None],
    ) -> None:
        self.name = name
        self.settings = settings
        self.state: ServerState = "starting"
        self.error: Reason | None = None
        self.tools: tuple[McpTool, ...] = ()
        self.settled = asyncio.Event()
        self._config_dir = config_dir
        self._time_limit = time_limit
        self._changed = changed
        self._owner: asyncio.Task[None] | None = None
        self._link: Link | None = None
        self._ready = asyncio.Event()
        self._wake = asyncio.Event()
        self._stop = asyncio.Event()
        self._lost: _End | None = None
        self._silent = 0
        self._legacy = False

    @property
    def pid(self) -> int | None:
        """Of the started program's group, while it runs."""
        return self._link.pid if self._link else None

    def start(self, after: asyncio.Task[None] | None = None) -> None:
        """Starts it in the background, once ``after`` is done."""
        self._owner = asyncio.create_task(self._own(after), name=f"MCP server {self.name}")

    async def aclose(self) -> None:
        """Ends it within 2 s, whatever it is doing."""
        self._stop.set()
        self._wake.set()
        if self._owner is None:
            return
        if self._link is None:
            self._owner.cancel()
        done, _ = await asyncio.wait({self._owner}, timeout=CLOSE_S)
        if not done:
            self._owner.cancel()
            await asyncio.wait({self._owner}, timeout=CLOSE_S)

    async def call(self, tool: McpTool, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Calls ``tool``; whoever cancels this has the server told, but doesn't wait for it.

        Raises:
            ToolFailure: as :class:`tools.contract.Tool` says.
        """
        limit = self._time_limit(tool.info)
        loop = asyncio.get_running_loop()
        began = loop.time()
        link = await self._connected(limit * _WAIT_SHARE)
        work = asyncio.create_task(link.call(tool.own_name, arguments, context))
        try:
            done, _ = await asyncio.wait({work}, timeout=limit + _GRACE_S)
        except asyncio.CancelledError:
            if loop.time() - began >= limit * 0.95:
                self._unanswered(link)
            await _abandon(work)
            raise
        if not done:
            self._unanswered(link)
            await _abandon(work)
            raise ToolFailure(f"It did not answer within {limit:g} s.")
        try:
            return work.result()
        except Down as down:
            self._give_up(
                link, _End(down.reason, was_ready=True, at_once=down.reason.text == "mcp.session_gone")
            )
            raise ToolFailure(
                f"The MCP server {self.name} was lost during the call and is started anew. "
                + down.reason.for_model()
            ) from None
        finally:
            self._silent = 0

    async def _connected(self, patience_s: float) -> Link:
        if self._link is None and self.state in ("starting", "restarting"):
            try:
                async with asyncio.timeout(patience_s):
                    await self._ready.wait()
            except TimeoutError:
                pass
        if self._link is None:
            why = f" {self.error.for_model()}" if self.error else ""
            raise ToolFailure(f"The MCP server {self.name} isn't connected now.{why}")
        return self._link

    def _unanswered(self, link: Link) -> None:
        self._silent += 1
        if self._silent >= SILENT_CALLS:
            self._silent = 0
            reason = Reason("mcp.silent", {"count": SILENT_CALLS}, link.last_words())
            self._give_up(link, _End(reason, was_ready=True, at_once=True))

    def _give_up(self, link: Link, end: _End) -> None:
        if link is self._link and self._lost is None:
            self._lost = end
            self._wake.set()

    async def _own(self, after: asyncio.Task[None] | None) -> None:
        if after is not None:
            await asyncio.wait({after})
        loop = asyncio.get_running_loop()
        failures = 0
        while not self._stop.is_set():
            began = loop.time()
            end = await self._live()
            if end is None:
                return
            log.warning("MCP server %s: %s", self.name, end.reason.render("en"))
            failures = 1 if loop.time() - began >= STEADY_S else failures + 1
            self._show("restarting" if end.was_ready else "failed", end.reason)
            if end.at_once and failures <= 1:
                continue
            self.settled.set()
            await self._pause(min(LONGEST_DELAY_S, 2.0 ** min(failures - 1, 10)))

    async def _live(self) -> _End | None:
        """One connection from its opening to its end; why it ended, None when we were asked to."""
        was_ready = False
        link: Link | None = None
        self._wake.clear()
        self._lost = None
        try:
            module: ModuleType = await run_blocking(_import_link, "importing mcp")
            link = module.Link(self.settings, self._config_dir, legacy=self._legacy, wake=self._wake.set)
            assert link is not None
            async with asyncio.timeout(self.settings.start_timeout_s) as deadline, link:
                await self._list(link)
                deadline.reschedule(None)
                was_ready = True
                self._link = link
                self._ready.set()
                self._show("ready", None)
                self.settled.set()
                try:
                    return await self._attend(link)
                finally:
                    self._ready.clear()
                    self._link = None
        except Down as down:
            return _End(down.reason, was_ready)
        except TimeoutError:
            seconds = self.settings.start_timeout_s
            reason = Reason("mcp.start_timeout", {"seconds": f"{seconds:g}"})
            return _End(reason.saying(link.last_words() if link else ""), was_ready)
        except Exception as error:
            assert link is not None
            self._legacy = self._legacy if was_ready else not self._legacy
            return _End(await link.reason(error), was_ready, at_once=not was_ready)

    async def _attend(self, link: Link) -> _End | None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._stop.is_set():
                return None
            if link.ended:
                return _End(await link.reason(None), was_ready=True)
            if self._lost is not None:
                return self._lost
            if link.changed:
                async with asyncio.timeout(self.settings.start_timeout_s):
                    await self._list(link)
                self._changed()
                await self._pause(LIST_PAUSE_S)

    async def _list(self, link: Link) -> None:
        offers = {offer.name: offer for offer in await link.offers() if self._allowed(offer.name)}
        names = public_names(self.name, offers)
        order = {own: place for place, own in enumerate(offers)}
        self.tools = tuple(
            McpTool(
                ToolInfo(
                    public,
                    offers[own].description,
                    offers[own].input_schema,
                    timeout_s=self.settings.timeout_s,
                ),
                own,
                self,
            )
            for public, own in sorted(names.items(), key=lambda pair: order[pair[1]])
        )

    def _allowed(self, name: str) -> bool:
        allow = self.settings.allow
        return (allow is None or name in allow) and name not in self.settings.deny

    def _show(self, state: ServerState, error: Reason | None) -> None:
        self.state, self.error = state, error
        if state == "failed":
            self.tools = ()
        self._changed()

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        except TimeoutError:
            pass


def _import_link() -> ModuleType:
    return importlib.import_module("tools.mcp.link")


async def _abandon(work: asyncio.Task[ToolResult]) -> None:
    """Cancels it, but waits only a moment for what that takes: telling a server can hang, too."""
    work.add_done_callback(lambda done: done.cancelled() or done.exception())
    work.cancel()
    await asyncio.wait({work}, timeout=_ABANDON_S)
