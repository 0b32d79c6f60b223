"""A whole companion in this process, without its sockets, and clients that talk to it in frames."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from server.app import App
from server.config.locate import Location
from server.session.client import Client

DEADLINE_S = 10.0
NO_TOOLS = "[agent]\nenable_tools = false\n"


def lab_toml(base_url: str, model: str = "scripted-chat", extra: str = "") -> str:
    """A configuration whose chat role is one OpenAI-compatible provider at ``base_url``."""
    return f"""
[llm.providers.scripted]
base_url = "{base_url}"
[agent.models.chat]
provider = "scripted"
model = "{model}"
{extra}
"""


def location(folder: Path, config: str) -> Location:
    """``config`` as the lab.toml of ``folder``, with a data folder beside it."""
    path = folder / "lab.toml"
    path.write_text(config, encoding="utf-8")
    data_dir = folder / "data"
    data_dir.mkdir(exist_ok=True)
    return Location(path, data_dir, "lab.toml", owned=False)


class Talker:
    """A client that speaks frames: a real one, whose sending end is a queue.

    Attributes:
        frames: everything that it was sent, in order.
    """

    def __init__(self, make: Callable[[Callable[[str], None]], Client]) -> None:
        self.frames: list[dict[str, Any]] = []
        self._arrived = asyncio.Event()
        self._read = 0
        self._ids = (f"r{number}" for number in itertools.count(1))
        self.client = make(self._take)

    def _take(self, text: str) -> None:
        self.frames.append(json.loads(text))
        self._arrived.set()

    async def send(self, type_: str, **fields: Any) -> str:
        """Sends a request; returns its id."""
        frame = {"type": type_, "id": next(self._ids), **fields}
        await self.client.receive(json.dumps(frame))
        return str(frame["id"])

    async def hello(self, **fields: Any) -> dict[str, Any]:
        await self.send("hello", protocol=1, **fields)
        return await self.until("welcome")

    async def ask(self, type_: str, **fields: Any) -> dict[str, Any]:
        """Sends a request and returns its answer."""
        asked = await self.send(type_, **fields)
        return await self.match(lambda frame: frame.get("re") == asked)

    async def until(self, *types: str) -> dict[str, Any]:
        """The next frame of one of ``types`` that no earlier call of this has passed."""
        return await self.match(lambda frame: frame["type"] in types)

    async def match(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        async with asyncio.timeout(DEADLINE_S):
            while True:
                while self._read < len(self.frames):
                    frame = self.frames[self._read]
                    self._read += 1
                    if wanted(frame):
                        return frame
                self._arrived.clear()
                await self._arrived.wait()

    def types(self, *only: str) -> list[str]:
        return [frame["type"] for frame in self.frames if not only or frame["type"] in only]

    def said(self, turn: int | None = None) -> str:
        """The visible text of a turn, as its deltas gave it."""
        return "".join(
            frame["text"]
            for frame in self.frames
            if frame["type"] == "delta" and turn in (None, frame["turn"])
        )


class Companion:
    """A running :class:`App`, and talkers beside its sockets."""

    def __init__(self, app: App) -> None:
        self.app = app
        self._talkers: list[Talker] = []

    def stranger(self, address: str = "127.0.0.1") -> Talker:
        """A client that has not said hello yet."""
        talker = Talker(lambda deliver: self.app.admit(deliver, address))
        self._talkers.append(talker)
        return talker

    async def talker(self, **hello: Any) -> Talker:
        talker = self.stranger()
        await talker.hello(**hello)
        return talker

    async def leave(self) -> None:
        for talker in self._talkers:
            await talker.client.leave()


@asynccontextmanager
async def companion(folder: Path, config: str, **options: Any) -> AsyncIterator[Companion]:
    """A companion that lives in ``folder`` and is configured by the text ``config``."""
    from server.app import Listening

    app = App(location(folder, config), Listening("127.0.0.1", 0), **options)
    async with app:
        running = Companion(app)
        try:
            yield running
        finally:
            await running.leave()
