"""How soon the companion is up, against importing what it is made of.

    python -m bench.startup [--rounds N]

In each round, one after the other: ``pet serve`` in an empty folder from its start to the first 200 of
``/healthz``, ``pet --version`` from start to end, and a plain import of the large packages that ``pet`` uses.
Wanted: serving within half of the plain import's time, the version within a quarter.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

from tests.support.process import ROOT, environment, serving

PLAIN = ["-c", "import openai, mcp, pydantic, websockets, git, PIL.Image, mss"]
VERSION = ["-m", "server.cli", "--version"]
ANSWER_S = 10


async def served() -> float:
    """Seconds until ``/healthz`` answers 200; the port is told as soon as the server listens."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "lab.toml").write_text("", encoding="utf-8")
        began = time.perf_counter()
        async with serving(folder) as process:
            await asyncio.to_thread(ask, process.url + "/healthz")
            took = time.perf_counter() - began
            await process.stop()
        return took


def ask(url: str) -> None:
    with build_opener(ProxyHandler({})).open(url, timeout=ANSWER_S) as answer:
        assert answer.status == 200, answer.status


def ran(arguments: list[str]) -> float:
    """Seconds that ``python ARGUMENTS`` takes to its end."""
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=environment(), cwd=ROOT
    )
    return time.perf_counter() - began


def measure(rounds: int) -> None:
    taken: dict[str, list[float]] = {"plain import": [], "pet serve": [], "pet --version": []}
    for number in range(rounds + 1):
        plain, serve, version = ran(PLAIN), asyncio.run(served()), ran(VERSION)
        if number:  # the first round fills the caches
            for name, seconds in zip(taken, (plain, serve, version), strict=True):
                taken[name].append(seconds)
    plain = statistics.median(taken["plain import"])
    print(f"medians of {rounds} rounds")
    for name, times in taken.items():
        middle = statistics.median(times)
        print(f"{name:>14} {middle * 1000:6.0f} ms, from {min(times) * 1000:.0f} to ", end="")
        print(f"{max(times) * 1000:.0f}; {middle / plain:.2f} of the plain import")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    measure(parser.parse_args().rounds)


if __name__ == "__main__":
    main()
