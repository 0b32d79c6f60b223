"""The parties of a measurement: a scripted provider and the program itself, each a process of its own.

``python -m bench.parties --deltas N --interval-ms T`` runs the provider: replies of N deltas, T apart. At
``/v1/last`` it tells the body of the newest chat request, so that a direct call can send the very messages
that the server sent.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, cast
from urllib.request import ProxyHandler, build_opener

from openai.types.chat import ChatCompletionMessageParam

from tests.fakes.openai_server import Paced, ScriptedProvider, Status
from tests.support.companion import lab_toml
from tests.support.process import PetProcess, Wire, serving

MODEL = "scripted-chat"
_SETTINGS = """
[agent]
enable_tools = false
[chat]
max_recent_messages = 100
context_tokens = 100000
[limits]
turns_per_minute = 100000
turns_per_hour = 100000
"""


@contextlib.contextmanager
def provider(deltas: int, interval_ms: float) -> Iterator[str]:
    """The address of a provider that replies with ``deltas`` deltas, ``interval_ms`` apart; 0 is flat out."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.parties", "--deltas", str(deltas), "--interval-ms", str(interval_ms)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def last_messages(base_url: str) -> list[ChatCompletionMessageParam]:
    """The messages of the provider's newest chat request."""
    with build_opener(ProxyHandler({})).open(base_url + "/last", timeout=10) as answer:
        return cast(list[ChatCompletionMessageParam], json.load(answer)["messages"])


@contextlib.asynccontextmanager
async def pet(base_url: str) -> AsyncIterator[tuple[PetProcess, Wire]]:
    """The program with its chat model at ``base_url`` and tools off, and a page that is connected to it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "lab.toml").write_text(lab_toml(base_url, MODEL, _SETTINGS), encoding="utf-8")
        async with serving(folder) as process, process.page(locale="en") as page:
            yield process, page


async def ended(page: Wire) -> int:
    """Reads to the end of the running turn; the number of its delta frames that were still to come."""
    deltas = 0
    while True:
        frame: dict[str, Any] = json.loads(await page.socket.recv())
        if frame["type"] == "delta":
            deltas += 1
        if frame["type"] == "turn.done":
            return deltas
        if frame["type"] in ("turn.error", "turn.cancelled", "error"):
            raise RuntimeError(f"the turn failed: {frame}")


async def _run(deltas: int, interval_ms: float) -> None:
    async with ScriptedProvider() as scripted:
        scripted.default = Paced(deltas, interval_ms / 1000)
        scripted.route("GET", "/v1/last", lambda _request: Status(200, scripted.requests[-1].body))
        print(scripted.base_url, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deltas", type=int, default=20)
    parser.add_argument("--interval-ms", type=float, default=5.0)
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_run(options.deltas, options.interval_ms))


if __name__ == "__main__":
    main()
