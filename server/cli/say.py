"""``pet say``: one turn in the terminal."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import typer
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from server.app import App, Listening
from server.cli.output import write
from server.cli.place import FAILED, find, owners_token, readable_errors, say_error, terminal_locale
from server.config.locate import Location
from server.gateway.runfile import RunFile
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
        token = await asyncio.to_thread(owners_token, location)
        url = await asyncio.to_thread(_running_url, location, token)
        if url is None:
            app = await stack.enter_async_context(App(location, Listening("127.0.0.1", 0)))
            url = app.url
        try:
            socket = await stack.enter_async_context(
                connect(
                    f"ws{url.removeprefix('http')}/ws",
                    additional_headers={"Authorization": f"Bearer {token}"},
                    proxy=None,
                    compression=None,
                    max_size=None,
                )
            )
            return await _converse(socket, text)
        except (OSError, WebSocketException):
            say_error(render("cli.unreachable", terminal_locale(), url=url))
            return False


def _running_url(location: Location, token: str) -> str | None:
    """Where a companion runs that has proved to be one: nobody else gets the token."""
    running = RunFile(location.data_dir).read()
    return running.url if running is not None and running.answers(token) else None


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
            write(frame["text"])
        elif kind == "turn.done":
            write("\n")
            return True
        elif kind == "turn.error":
            write("\n")
            say_error(" ".join(filter(None, (frame["message"], frame.get("hint")))))
            return False
        elif kind == "turn.cancelled":
            write("\n")
            return False
    return False
