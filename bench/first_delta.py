"""How much later the first word comes through the program than from the model itself.

    python -m bench.first_delta [--pairs N]

Pair by pair, each order in turn: the time from sending a message over the WebSocket to its first delta, and
the time of the plain ``openai`` call with the very messages that the server sent, on the same scripted
provider. All three are processes of their own on one machine. Wanted: at most 2 ms more at p50 and 8 ms at
p99 with a short history, and nothing more with 100 messages of history.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Sequence

from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageParam

from bench.parties import MODEL, ended, last_messages, pet, provider
from tests.support.process import Wire

TEXT = "Tell me a little about the sea and the weather there, please."
HISTORY = 100
DELTAS, INTERVAL_MS = 20, 2.0
WARM_UP = 10


async def ours(page: Wire) -> float:
    """Milliseconds to the first delta of a turn."""
    began = time.perf_counter()
    await page.send("send", text=TEXT)
    await page.until("delta")
    took = (time.perf_counter() - began) * 1000
    await ended(page)
    page.frames.clear()
    return took


async def direct(client: AsyncOpenAI, messages: Sequence[ChatCompletionMessageParam]) -> float:
    """Milliseconds to the first delta of the plain call."""
    took = 0.0
    began = time.perf_counter()
    stream = await client.chat.completions.create(
        model=MODEL, messages=list(messages), stream=True, temperature=0.7
    )
    async for chunk in stream:
        if not took and chunk.choices and chunk.choices[0].delta.content:
            took = (time.perf_counter() - began) * 1000
    return took


async def measure(history: int, pairs: int) -> None:
    with provider(DELTAS, INTERVAL_MS) as base_url:
        client = AsyncOpenAI(base_url=base_url, api_key="none")
        async with client, pet(base_url) as (_, page):
            for _ in range(history // 2 + 1):
                await ours(page)
            through: list[float] = []
            plain: list[float] = []
            messages: list[ChatCompletionMessageParam] = []
            for number in range(WARM_UP + pairs):
                if not history:
                    await page.ask("chat.clear")
                if number % 2 or not messages:
                    took = await ours(page)
                    messages = messages or last_messages(base_url)
                    alone = await direct(client, messages)
                else:
                    alone = await direct(client, messages)
                    took = await ours(page)
                if number >= WARM_UP:
                    through.append(took)
                    plain.append(alone)
    report(f"{len(messages)} messages in the prompt", through, plain)


def report(name: str, through: Sequence[float], plain: Sequence[float]) -> None:
    print(f"{name}, {len(plain)} pairs              p50      p99")
    added = [ours - theirs for ours, theirs in zip(through, plain, strict=True)]
    for title, values in (("through the server", through), ("plain call", plain), ("difference", added)):
        p99 = statistics.quantiles(values, n=100, method="inclusive")[98]
        print(f"{title:>30} {statistics.median(values):9.2f} {p99:8.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pairs", type=int, default=300)
    options = parser.parse_args()
    for history in (0, HISTORY):
        asyncio.run(measure(history, options.pairs))


if __name__ == "__main__":
    main()
