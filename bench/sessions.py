"""Many sessions at once: the memory of idle ones, and how late streamed text comes while all of them talk.

    python -m bench.sessions

The server runs on one processor where the system can pin it; the clients (this process) and the scripted
provider (another one) run on the others. Every delta of the provider is the time at which it was sent, so a
delta's lateness runs from the provider's socket to a client's.
Wanted: at most 150 KB an idle session; 100 sessions of 50 deltas a second with a p99 of at most 25 ms at no
more than 85 % of the processor; 200 sessions with a p99 of at most 250 ms; and no text lost.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import psutil

from bench.parties import MODEL
from bench.stamped import stamped
from tests.support.companion import NO_TOOLS, lab_toml
from tests.support.process import Wire, serving

IDLE = 200
CROWDS = (100, 200)
DELTAS = 400
INTERVAL_MS = 20.0
SETTLE_S = 2.0
SETTINGS = (
    NO_TOOLS
    + """
[limits]
turns_per_minute = 100000
turns_per_hour = 100000
"""
)
TEXT = "Tell me a story about the sea."


@contextlib.contextmanager
def on_processors(numbers: Sequence[int]) -> Iterator[None]:
    """What is started meanwhile runs on these processors; anywhere where the system can't pin."""
    this = psutil.Process()
    if not numbers or not hasattr(this, "cpu_affinity"):
        yield
        return
    before = this.cpu_affinity()
    this.cpu_affinity(list(numbers))
    try:
        yield
    finally:
        this.cpu_affinity(before)


async def listen(wire: Wire) -> list[float]:
    """One turn: milliseconds that each of its deltas was late."""
    await wire.send("send", text=TEXT)
    came: list[tuple[int, str | bytes]] = []
    while True:
        raw = await wire.socket.recv()
        came.append((time.time_ns() // 1000, raw))
        if '"turn.' in str(raw[:100]) and json.loads(raw)["type"] in ("turn.done", "turn.error"):
            break
    late: list[float] = []
    rest = ""
    for at, raw in came:
        frame = json.loads(raw)
        if frame["type"] == "turn.error":
            raise RuntimeError(f"the turn failed: {frame}")
        if frame["type"] == "delta":
            *words, rest = (rest + frame["text"]).split(" ")
            late += [(at - int(word)) / 1000 for word in words]
    return [*late, (at - int(rest)) / 1000] if rest else late


async def talk(pids: tuple[int, int, int], wires: Sequence[Wire]) -> None:
    """All clients take a turn, begun within one second; prints how it went.

    Args:
        pids: of the server, the clients and the provider.
    """
    before, began = [used(pid) for pid in pids], time.perf_counter()

    async def later(number: int, wire: Wire) -> list[float]:
        await asyncio.sleep(number / len(wires))
        return await listen(wire)

    turns = await asyncio.gather(*(later(number, wire) for number, wire in enumerate(wires)))
    took = time.perf_counter() - began
    shares = [(used(pid) - start) / took for pid, start in zip(pids, before, strict=True)]
    late = sorted(ms for turn in turns for ms in turn)
    print(
        f"{len(wires)} sessions: {len(late)} of {len(wires) * DELTAS} deltas came, in {took:.1f} s; late ",
        end="",
    )
    print(
        f"p50 {statistics.median(late):.1f}, p99 {late[len(late) * 99 // 100]:.1f}, at most {late[-1]:.1f} ms"
    )
    print("    of a processor: server {:.0%}, clients {:.0%}, provider {:.0%}".format(*shares))


def used(pid: int) -> float:
    """Seconds of processor time of a process up to now."""
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


async def measure(base_url: str, provider: int, processors: Sequence[int]) -> None:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "lab.toml").write_text(lab_toml(base_url, MODEL, SETTINGS), encoding="utf-8")
        with on_processors(processors):
            process = await stack.enter_async_context(serving(folder))
        warm = await stack.enter_async_context(process.page(new=True))
        await listen(warm)  # imports and probes are not what is measured
        server = psutil.Process(process.process.pid)
        await asyncio.sleep(SETTLE_S)
        before = server.memory_info().rss
        wires = [await stack.enter_async_context(process.page(new=True)) for _ in range(IDLE)]
        await asyncio.sleep(SETTLE_S)
        grown = server.memory_info().rss - before
        print(f"{IDLE} idle sessions: {grown / IDLE / 1000:.0f} KB each")
        for count in CROWDS:
            await talk((process.process.pid, os.getpid(), provider), wires[:count])


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    first, *others = range(psutil.cpu_count() or 1)
    with on_processors(others), stamped(DELTAS, INTERVAL_MS) as (base_url, pid):
        asyncio.run(measure(base_url, pid, [first] if others else []))


if __name__ == "__main__":
    main()
