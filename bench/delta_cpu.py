"""CPU time per streamed delta: the whole server process against the plain ``openai`` stream loop.

    python -m bench.delta_cpu [--rounds N]

Server, plain loop and scripted provider are processes of their own. A delta is one that the provider sent,
however many of them the server joined to a frame. The server's time is all that its process used while the
replies ran. Wanted: at most half of the plain loop's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import psutil
from openai import AsyncOpenAI

from bench.parties import MODEL, ended, pet, provider
from tests.support.process import PetProcess, Wire

DELTAS = 4000
PACES = ((0.0, 5), (0.5, 2))  # ms between two deltas, replies a round
TEXT = "Tell me a long story about the sea."


async def plain_loop(base_url: str, replies: int) -> float:
    """Seconds of this process's CPU that ``replies`` replies take; one more goes before, unmeasured."""
    used = 0.0
    async with AsyncOpenAI(base_url=base_url, api_key="none") as client:
        for number in range(replies + 1):
            began = time.process_time()
            stream = await client.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": TEXT}], stream=True
            )
            text = ""
            async for chunk in stream:
                if chunk.choices:
                    text += chunk.choices[0].delta.content or ""
            if number:
                used += time.process_time() - began
    return used


def plain(base_url: str, replies: int) -> float:
    """``plain_loop`` in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.delta_cpu", "--plain", base_url, "--replies", str(replies)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    return float(json.loads(done.stdout))


async def served(process: PetProcess, page: Wire, replies: int) -> tuple[float, int]:
    """Seconds of the server's CPU, and the delta frames that came."""
    server = psutil.Process(process.process.pid)
    before = server.cpu_times()
    frames = 0
    for _ in range(replies):
        await page.ask("chat.clear")
        await page.send("send", text=TEXT)
        frames += await ended(page)
    after = server.cpu_times()
    return after.user + after.system - before.user - before.system, frames


async def measure(interval_ms: float, replies: int, rounds: int) -> None:
    with provider(DELTAS, interval_ms) as base_url:
        async with pet(base_url) as (process, page):
            await served(process, page, 1)
            ours: list[float] = []
            theirs: list[float] = []
            frames = 0
            for _ in range(rounds):
                seconds, count = await served(process, page, replies)
                frames += count
                ours.append(seconds / (replies * DELTAS) * 1e6)
                seconds = await asyncio.to_thread(plain, base_url, replies)
                theirs.append(seconds / (replies * DELTAS) * 1e6)
    pace = f"a delta each {interval_ms} ms and a timer's tick" if interval_ms else "flat out"
    print(f"{pace}: medians of {rounds} rounds of {replies} replies of {DELTAS} deltas")
    print(f"    server {statistics.median(ours):6.1f} µs a delta, from {min(ours):.1f} to {max(ours):.1f}")
    print(f"    plain  {statistics.median(theirs):6.1f} µs, from {min(theirs):.1f} to {max(theirs):.1f}")
    ratio = statistics.median(mine / plain for mine, plain in zip(ours, theirs, strict=True))
    print(f"    ratio  {ratio:6.2f}; deltas joined to a frame {rounds * replies * DELTAS / frames:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plain", metavar="URL", help="only the plain loop: its CPU seconds as JSON")
    parser.add_argument("--replies", type=int, default=1)
    options = parser.parse_args()
    if options.plain:
        print(json.dumps(asyncio.run(plain_loop(options.plain, options.replies))))
        return
    for interval_ms, replies in PACES:
        asyncio.run(measure(interval_ms, replies, options.rounds))


if __name__ == "__main__":
    main()
