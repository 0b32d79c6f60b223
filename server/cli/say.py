"""``pet say``: one turn in the terminal."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import typer
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from server.app import App, Listening
from server.cli.place import FAILED, find, readable_errors, say_error, terminal_locale
from server.config.locate import Location
from server.gateway.runfile import RunFile
from server.gateway.token import TokenFile
from server.log import set_up_logging
from server.messages import render


def run(config: Path | None, data_dir: Path | None, text: str) -> None:
    """Says ``text`` to the running companion, or to one that lives for this turn alone."""
    location = find(config, data_dir)
    set_up_logging(location.data_dir)
    with readable_errors():
        try:
            answered = asyncio.run(_say(location, text))
        except KeyboardInterrupt:
            answered = False
    if not answered:
        raise typer.Exit(FAILED)


async def _say(location: Location, text: str) -> bool:
    async with AsyncExitStack() as stack:
        running = await asyncio.to_thread(_running_url, location)
        if running is None:
            app = await stack.enter_async_context(App(location, Listening("127.0.0.1", 0)))
            running = app.url
        token = TokenFile(location.data_dir).read()
        try:
            socket = await stack.enter_async_context(
                connect(
                    f"ws{running.removeprefix('http')}/ws",
                    additional_headers={"Authorization": f"Bearer {token}"},
                    proxy=None,
                    compression=None,
                    max_size=None,
                )
            )
            return await _converse(socket, text)
        except (OSError, WebSocketException):
            say_error(render("cli.unreachable", terminal_locale(), url=running))
            return False


def _running_url(location: Location) -> str | None:
    running = RunFile(location.data_dir).read()
    return running.url if running is not None and running.answers() else None


async def _converse(socket: ClientConnection, text: str) -> bool:
    hello = {"type": "hello", "protocol": 1, "client": "pet say", "locale": terminal_locale()}
    await socket.send(json.dumps(hello))
    await socket.send(json.dumps({"type": "send", "id": "say", "text": text}))
    turn: int | None = None
    async for raw in socket:
        frame: dict[str, Any] = json.loads(raw)
        kind = frame["type"]
        if kind == "turn.start" and frame.get("re") == "say":
            turn = frame["turn"]
        elif kind == "error" and frame.get("re") == "say":
            say_error(frame["message"])
            return False
        elif turn is None or frame.get("turn") != turn:
            continue
        elif kind == "delta":
            typer.echo(frame["text"], nl=False)
            sys.stdout.flush()
        elif kind == "turn.done":
            typer.echo()
            return True
        elif kind == "turn.error":
            typer.echo()
            say_error(" ".join(filter(None, (frame["message"], frame.get("hint")))))
            return False
        elif kind == "turn.cancelled":
            typer.echo()
            return False
    return False
