"""How long a user waits for the first word, by the way that the turn takes.

    python -m bench.waiting [--rounds N]

The chat model and the tool model are scripted, in a process of their own, and each takes a fixed time for its
first token. A turn's wait runs from the message to the first delta at a client of the whole companion; it is
shown as a multiple of the chat model's own wait, which is measured in the same rounds by asking it directly.
``both`` without a tool is to be at the later of the two models, not at their sum. Beside it stand the tokens
that a turn spent on an answer that was begun and dropped: what the day's usage grew by beyond what
``turn.done`` told.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.slow_models import TOKEN_S, slow_models
from server.models.events import TextDelta
from server.models.hub import ModelHub
from tests.support.companion import Companion, Talker, companion, lab_toml

UNSURE = "how is it going with the deploy we talked about"
UNSURE_CALLED = "how is it going with the notes we talked about"
FAST = "hello there"
PACES = ((400, 300), (300, 500))  # ms to the first token: the chat model, the tool model


@dataclass(frozen=True)
class Way:
    """A way that a turn can take.

    Attributes:
        speculate: ``[agent] speculate``.
        path: what ``turn.route`` must say.
        asked: how often the tool model is asked one after the other.
        beside: whether the chat model's answer is begun beside the first of these.
        called: whether a tool is called.
    """

    name: str
    text: str
    speculate: str
    path: str
    asked: int
    beside: bool = False
    called: bool = False

    def expected(self, chat_ms: float, tool_ms: float) -> float:
        """The wait when nothing but the models takes time."""
        if self.beside and not self.called:
            return max(chat_ms, tool_ms)
        return self.asked * tool_ms + chat_ms


WAYS = (
    Way("fast", FAST, "always", "fast", asked=0),
    Way("both, no tool", UNSURE, "always", "both", asked=1, beside=True),
    Way("both, a tool called", UNSURE_CALLED, "always", "both", asked=2, beside=True, called=True),
    Way("tool then chat, no tool", UNSURE, "never", "tool", asked=1),
    Way("tool then chat, a tool called", UNSURE_CALLED, "never", "tool", asked=2, called=True),
)


@dataclass(frozen=True)
class Waited:
    """One turn: milliseconds to its first delta, and the tokens of a dropped answer."""

    ms: float
    prompt: int
    completion: int


def config(chat_url: str, tool_url: str, speculate: str) -> str:
    return lab_toml(
        chat_url,
        extra=f"""
[llm.providers.router]
base_url = "{tool_url}"
[agent.models.tool]
provider = "router"
model = "scripted-chat"
[agent]
speculate = "{speculate}"
[workspace]
path = "."
[limits]
turns_per_minute = 10000
turns_per_hour = 10000
""",
    )


async def own_wait(hub: ModelHub) -> float:
    """Milliseconds until the chat model's first token, asked without a companion around it."""
    model = await hub.resolve("chat")
    began = time.perf_counter()
    stream = hub.stream_chat(model, [{"role": "user", "content": FAST}], temperature=0.0)
    async with aclosing(stream):
        async for event in stream:
            if isinstance(event, TextDelta):
                return (time.perf_counter() - began) * 1000
    raise AssertionError("the chat model said nothing")


async def spent(page: Talker) -> tuple[int, int]:
    """Today's tokens of the chat role: prompt, completion."""
    usage: dict[str, Any] = (await page.ask("status"))["usage_today"].get("chat", {})
    return usage.get("prompt", 0), usage.get("completion", 0)


async def wait(page: Talker, way: Way) -> Waited:
    """One turn in an empty chat."""
    await page.ask("chat.clear")
    before = await spent(page)
    began = time.perf_counter()
    await page.send("send", text=way.text)
    route = await page.until("turn.route")
    assert route["path"] == way.path, route
    await page.until("delta")
    ms = (time.perf_counter() - began) * 1000
    done = await page.until("turn.done", "turn.error")
    told = done["usage"]["chat"]
    calls = [frame for frame in page.frames if frame["type"] == "tool.end" and frame["turn"] == done["turn"]]
    assert bool(calls) == way.called, calls
    after = await spent(page)
    return Waited(ms, after[0] - before[0] - told["prompt"], after[1] - before[1] - told["completion"])


async def measure(chat_ms: int, tool_ms: int, rounds: int) -> None:
    """Prints a table for one pair of models; the ways take turns, so that a busy machine hits all alike."""
    own: list[float] = []
    waited: dict[str, list[Waited]] = defaultdict(list)
    async with AsyncExitStack() as stack:
        chat_url, tool_url = stack.enter_context(slow_models(chat_ms, tool_ms))
        pets: dict[str, tuple[Companion, Talker]] = {}
        for speculate in ("always", "never"):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            (folder / "notes.txt").write_text("nothing new\n", encoding="utf-8")
            pet = await stack.enter_async_context(companion(folder, config(chat_url, tool_url, speculate)))
            page = await pet.talker()
            pets[speculate] = pet, page
            for way in WAYS:
                if way.speculate == speculate:
                    await wait(page, way)  # imports, connections and probes are not what is measured
        for _ in range(rounds):
            own.append(await own_wait(pets["always"][0].app.hub))
            for way in WAYS:
                waited[way.name].append(await wait(pets[way.speculate][1], way))
    report(chat_ms, tool_ms, own, waited)


def report(chat_ms: int, tool_ms: int, own: Sequence[float], waited: dict[str, list[Waited]]) -> None:
    base = statistics.median(own)
    print(f"first token: chat model {chat_ms} ms (measured {base:.0f}), tool model {tool_ms} ms; ", end="")
    print(f"medians of {len(own)} rounds")
    print(f"{'':>30}   first delta   × chat's own   expected   tokens wasted a turn, in all")
    for way in WAYS:
        turns = waited[way.name]
        ms = statistics.median(turn.ms for turn in turns)
        expected = way.expected(base, tool_ms) / base
        prompt = statistics.median(turn.prompt for turn in turns)
        completion = statistics.median(turn.completion for turn in turns)
        total = sum(turn.prompt + turn.completion for turn in turns)
        print(f"{way.name:>30}   {ms:8.0f} ms   {ms / base:10.2f}   {expected:10.2f}   ", end="")
        print(f"{prompt:.0f} + {completion:.0f}, {total}" if total else "none")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    for chat_ms, tool_ms in PACES:
        asyncio.run(measure(chat_ms, tool_ms, options.rounds))
    print(f"Expected: what the two models' own times add up to. A token each {TOKEN_S * 1000:.0f} ms; the")
    print(
        "wasted ones are prompt + completion, estimated by us where the stream was cut before its usage came."
    )


if __name__ == "__main__":
    main()
