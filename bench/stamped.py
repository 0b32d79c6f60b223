"""A scripted provider in a process of its own whose deltas are the microseconds at which they were sent.

``python -m bench.stamped --deltas N --interval-ms T`` prints its address and runs until it is ended.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator

from tests.fakes.openai_server import Scripted, ScriptedProvider
from tests.fakes.replies import Exchange, chunk
from tests.support.process import ROOT


class Stamped(Scripted):
    """``count`` deltas at an even pace."""

    def __init__(self, count: int, interval_s: float) -> None:
        self.count = count
        self.interval_s = interval_s

    async def play(self, exchange: Exchange) -> None:
        line = "data: " + json.dumps(chunk(exchange.body, {"content": "@ "}))
        before, after = line.split("@")  # a line is not encoded anew: the provider is not to be the slow one
        await exchange.start_stream()
        due = time.monotonic()
        for _ in range(self.count):
            await exchange.line(f"{before}{time.time_ns() // 1000}{after}")
            due += self.interval_s
            await asyncio.sleep(max(0.0, due - time.monotonic()))
        await exchange.line("data: " + json.dumps(chunk(exchange.body, {}, "stop")))
        await exchange.line("data: [DONE]")
        await exchange.end_stream()


@contextlib.contextmanager
def stamped(deltas: int, interval_ms: float) -> Iterator[tuple[str, int]]:
    """The address of such a provider, and its process id."""
    arguments = ["--deltas", str(deltas), "--interval-ms", str(interval_ms)]
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.stamped", *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process.pid
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def _run(deltas: int, interval_ms: float) -> None:
    async with ScriptedProvider() as scripted:
        scripted.default = Stamped(deltas, interval_ms / 1000)
        print(scripted.base_url, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deltas", type=int, default=500)
    parser.add_argument("--interval-ms", type=float, default=20.0)
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_run(options.deltas, options.interval_ms))


if __name__ == "__main__":
    main()
