"""One connection to a server, from its opening to its end. Opened and closed by one task, its owner's."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import httpx2
from mcp import Client, MCPError
from mcp.client import InputRequiredRoundsExceededError
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp_types import (
    CONNECTION_CLOSED,
    Implementation,
    PaginatedRequestParams,
    Tool,
    ToolListChangedNotification,
)
from pydantic import ValidationError

from server import __version__
from server.config.schema import McpServer
from tools.contract import CallContext, JsonSchema, ToolFailure, ToolResult
from tools.mcp.http import HttpTransport
from tools.mcp.launch import plan_launch
from tools.mcp.reason import Down, Reason
from tools.mcp.results import converted, short
from tools.mcp.stdio import StdioTransport
from tools.schema import without_titles

log = logging.getLogger(__name__)

MAX_TOOLS: Final = 500
MAX_SCHEMA_CHARS: Final = 20_000
MAX_DESCRIPTION_CHARS: Final = 2_000
_MAX_PAGES: Final = 100
_END_S: Final = 0.3
_SUBSCRIBE_S: Final = 2.0
_SUBSCRIBE_AGAIN_S: Final = 5.0
_SESSION_TERMINATED: Final = "Session terminated"  # the library's only word for HTTP 404 within a session


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as its server calls and describes it."""

    name: str
    description: str
    input_schema: JsonSchema


class Link:
    """``async with`` opens it, in whatever protocol era the server speaks.

    Args:
        config_dir: where a relative ``cwd`` and program begin.
        legacy: whether to greet the server as clients did before 2026 instead of asking it first.
        wake: called when :attr:`changed` or :attr:`ended` become true.

    Attributes:
        changed: whether the server said that its tools are others now.
    """

    def __init__(
        self, settings: McpServer, config_dir: Path, *, legacy: bool, wake: Callable[[], None]
    ) -> None:
        self.changed = False
        self._wake = wake
        self._legacy = legacy
        self._secrets: tuple[str, ...] = ()
        self._transport: StdioTransport | HttpTransport
        if settings.url is not None:
            self._transport = HttpTransport(settings.url)
        else:
            launch = plan_launch(settings, config_dir, os.environ)
            self._secrets = launch.secrets
            self._transport = StdioTransport(launch)
        self._client: Client | None = None
        self._died_first = False
        self._stack = AsyncExitStack()
        self._helpers: list[asyncio.Task[None]] = []

    @property
    def ended(self) -> bool:
        return isinstance(self._transport, StdioTransport) and self._transport.died.is_set()

    @property
    def pid(self) -> int | None:
        """Of the started program's group, where there is one."""
        return self._transport.pid if isinstance(self._transport, StdioTransport) else None

    async def __aenter__(self) -> Link:
        client = Client(
            self._transport,
            mode="legacy" if self._legacy else "auto",
            message_handler=self._hear,
            client_info=Implementation(name="pet_mode", version=__version__),
            cache=None,
        )
        async with AsyncExitStack() as stack:
            self._client = await stack.enter_async_context(client)
            stack.push_async_callback(self._stop_helpers)
            if isinstance(self._transport, StdioTransport):
                self._helpers.append(asyncio.create_task(self._watch(self._transport)))
            if _tells_by_subscription(client):
                heard = asyncio.Event()
                self._helpers.append(asyncio.create_task(self._listen(client, heard)))
                with contextlib.suppress(TimeoutError):  # else a change before the first listing is missed
                    async with asyncio.timeout(_SUBSCRIBE_S):
                        await heard.wait()
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        self._died_first = self.ended
        return await self._stack.__aexit__(exc_type, exc, traceback)

    async def offers(self) -> list[Offer]:
        """Every page of the server's tools, in its order, within bounds."""
        client = self._connected()
        self.changed = False
        found: dict[str, Offer] = {}
        cursors: set[str | None] = set()
        cursor: str | None = None
        while cursor not in cursors and len(cursors) < _MAX_PAGES and len(found) < MAX_TOOLS:
            cursors.add(cursor)
            page = await client.session.list_tools(params=PaginatedRequestParams(cursor=cursor))
            for tool in page.tools:
                schema = _schema(tool)
                if schema is not None:
                    description = (tool.description or "")[:MAX_DESCRIPTION_CHARS]
                    found.setdefault(tool.name, Offer(tool.name, description, schema))
            cursor = page.next_cursor
            if cursor is None:
                break
        return list(found.values())[:MAX_TOOLS]

    async def call(self, name: str, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Calls a tool. Cancelling it tells the server.

        Raises:
            ToolFailure: the tool says so, or its answer makes no sense.
            Down: the connection ended meanwhile.
        """

        async def tell(progress: float, total: float | None, message: str | None) -> None:
            context.progress(progress, total, message[:300] if message else None)

        try:
            answer = await self._connected().call_tool(name, dict(arguments), progress_callback=tell)
            return converted(answer, self._secrets)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED or error.message == _SESSION_TERMINATED:
                raise Down(await self.reason(error)) from None
            raise ToolFailure(short(error.message, self._secrets) or f"MCP error {error.code}") from None
        except (RuntimeError, InputRequiredRoundsExceededError) as error:
            if self.ended or self._client is None:
                raise Down(await self.reason(error)) from None
            first = str(error).split("\n", 1)[0]
            raise ToolFailure(short(first, self._secrets)) from None
        except ValidationError:
            raise ToolFailure("Its answer isn't one that MCP allows.") from None

    async def reason(self, error: BaseException | None) -> Reason:
        """Why the connection ended or couldn't be opened; ``error`` is what was raised, if anything."""
        if isinstance(error, BaseExceptionGroup):
            error = _deepest(error)
        if isinstance(error, Down):
            reason = error.reason
        elif isinstance(self._transport, StdioTransport) and (self._died_first or _is_closed(error)):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_END_S):
                    await self._transport.exited()
            code = self._transport.exit_code
            reason = Reason("mcp.closed") if code is None else Reason("mcp.exited", {"code": code})
        elif isinstance(error, MCPError) and error.message == _SESSION_TERMINATED:
            reason = Reason("mcp.session_gone")
        elif isinstance(self._transport, HttpTransport) and self._transport.status is not None:
            reason = Reason("mcp.http_status", {"status": self._transport.status})
        elif isinstance(error, httpx2.HTTPError | OSError):
            reason = Reason("mcp.unreachable", {"detail": type(error).__name__})
        elif error is None or _is_closed(error):
            reason = Reason("mcp.closed")
        else:
            reason = Reason("mcp.protocol", {"detail": self._detail(error)})
        return reason.saying(self.last_words())

    def _detail(self, error: BaseException) -> str:
        text = str(error).split("\n", 1)[0]
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            text = f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
        return short(text, self._secrets)[:200] or type(error).__name__

    def last_words(self) -> str:
        return self._transport.last_words() if isinstance(self._transport, StdioTransport) else ""

    def _connected(self) -> Client:
        if self._client is None:
            raise RuntimeError("the connection isn't open")
        return self._client

    async def _hear(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._tools_changed()

    def _tools_changed(self) -> None:
        self.changed = True
        self._wake()

    async def _watch(self, transport: StdioTransport) -> None:
        await transport.died.wait()
        self._wake()

    async def _listen(self, client: Client, heard: asyncio.Event) -> None:
        """Servers of 2026 and later tell only who asks; changes between two such streams are looked up."""
        while True:
            with contextlib.suppress(MCPError, SubscriptionLost, ListenNotSupportedError):
                async with client.listen(tools_list_changed=True) as subscription:
                    heard.set()
                    async for _ in subscription:
                        self._tools_changed()
            heard.set()
            await asyncio.sleep(_SUBSCRIBE_AGAIN_S)
            self._tools_changed()

    async def _stop_helpers(self) -> None:
        for helper in self._helpers:
            helper.cancel()
        await asyncio.gather(*self._helpers, return_exceptions=True)


def _tells_by_subscription(client: Client) -> bool:
    tools = client.server_capabilities.tools
    return client.session.discover_result is not None and tools is not None and bool(tools.list_changed)


def _schema(tool: Tool) -> JsonSchema | None:
    """The schema of its arguments, where that is of a size and form that a model can be shown."""
    try:
        schema = without_titles(tool.input_schema)
        if schema.get("type", "object") == "object" and len(json.dumps(schema)) <= MAX_SCHEMA_CHARS:
            return schema
    except ValueError:
        pass
    log.warning("an MCP tool is left out for its schema: %s", tool.name[:100])
    return None


def _is_closed(error: BaseException | None) -> bool:
    return error is None or (isinstance(error, MCPError) and error.code == CONNECTION_CLOSED)


def _deepest(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
