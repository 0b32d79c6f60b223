"""The tool loop in figures: a step of eight slow calls against the longest of them, the CPU of a busy turn.

    python -m bench.tool_loop [--rounds N]

The tool model is the scripted provider in a process of its own, so that its CPU isn't counted. The step is
to take at most 1.1 times its longest call, whether the calls await or block. The turn has four steps of four
calls that do nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server.agent.images import ImageStore
from server.agent.loop import LoopJob, run_tools
from server.agent.tool_prompt import load_tool_router, tool_messages
from server.config.schema import ToolLoop, ToolOverride
from server.config.store import ConfigStore
from server.models.hub import ModelHub
from tools.contract import CallContext, Capability, PicturePart, Tool, ToolInfo, ToolResult
from tools.threads import run_blocking

SLOW_S = 0.2
CALLS = 8
STEPS = 4
SERVER = """
import asyncio, itertools, json, sys
from tests.fakes.openai_server import Reply, ScriptedProvider

async def main():
    async with ScriptedProvider() as provider:
        numbers = itertools.count()
        def answer(request):
            messages = request.body["messages"]
            name = request.body["tools"][0]["function"]["name"]
            step = sum(1 for message in messages if message.get("tool_calls"))
            steps, calls = json.loads(messages[-1]["content"]) if step == 0 else answer.plan
            answer.plan = steps, calls
            if step >= steps:
                return Reply("done")
            made = [{"id": f"c{next(numbers)}", "type": "function",
                     "function": {"name": name, "arguments": json.dumps({"n": next(numbers)})}}
                    for _ in range(calls)]
            return Reply(tool_calls=made, finish="tool_calls")
        provider.route("POST", "/v1/chat/completions", answer)
        print(provider.base_url, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@dataclass(frozen=True)
class Bench:
    """One tool for one measurement."""

    name: str

    @property
    def info(self) -> ToolInfo:
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        return ToolInfo(self.name, "Works.", schema)

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        if self.name == "bench__awaits":
            await asyncio.sleep(SLOW_S)
        elif self.name == "bench__blocks":
            await run_blocking(lambda: time.sleep(SLOW_S), self.name)
        return ToolResult.text("ok")


@dataclass(frozen=True)
class One:
    """A registry of one tool."""

    tool: Bench

    def tools(self) -> list[ToolInfo]:
        return [self.tool.info]

    def get(self, name: str) -> Tool | None:
        return self.tool if name == self.tool.name else None


@dataclass(frozen=True)
class Turn:
    turn: int = 1
    known_urls: frozenset[str] = frozenset()

    async def consent(self, capability: Capability, detail: str) -> bool:
        return True

    def picture(self, ref: str) -> PicturePart | None:
        return None


@contextmanager
def provider() -> Iterator[str]:
    """The address of a scripted provider in a process of its own."""
    root = Path(__file__).parents[1]
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True, cwd=root)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def turn(hub: ModelHub, tool: str, steps: int, calls: int) -> tuple[float, float, int]:
    """One turn: seconds of CPU, seconds, and the longest of its calls in milliseconds."""
    words = json.dumps([steps, calls])
    job = LoopJob(
        model=await hub.resolve("tool"),
        hub=hub,
        registry=One(Bench(tool)),
        messages=tool_messages(words, router=load_tool_router(), state={}),
        settings=ToolLoop(max_steps=steps + 1),
        bounds=lambda name: ToolOverride(),
        context=Turn(),
        images=ImageStore(),
        chat_context=8192,
    )
    steps_began: list[float] = []
    steps_ended: list[float] = []

    def emit(event: object) -> None:
        (steps_began if type(event).__name__ == "CallStarted" else steps_ended).append(time.perf_counter())

    cpu = time.process_time()
    outcome = await run_tools(job, emit)
    cpu = time.process_time() - cpu
    assert outcome.stopped == "answered", outcome.stopped
    assert len(outcome.trace) == steps * calls
    took = max(steps_ended) - min(steps_began)
    return cpu, took, max(entry.ms for entry in outcome.trace)


async def measure(rounds: int) -> None:
    with provider() as base_url, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lab.toml"
        path.write_text(
            f'[llm.providers.bench]\nbase_url = "{base_url}"\n'
            '[agent.models.chat]\nprovider = "bench"\nmodel = "scripted-chat"\n',
            encoding="utf-8",
        )
        store = ConfigStore(path, Path(folder) / "data")
        hub = ModelHub(store, store.keys, Path(folder) / "data")
        await hub.start()
        try:
            await turn(hub, "bench__nothing", 1, 1)
            print(f"a step of {CALLS} calls of {SLOW_S * 1000:.0f} ms")
            for tool in ("bench__awaits", "bench__blocks"):
                ratios = []
                for _ in range(rounds):
                    _, took, longest = await turn(hub, tool, 1, CALLS)
                    ratios.append(took * 1000 / longest)
                print(f"{tool:>16}: {statistics.median(ratios):.3f} × the longest (at most 1.1)")
            gc.disable()
            costs = [(await turn(hub, "bench__nothing", STEPS, STEPS))[0] for _ in range(5 * rounds)]
            gc.enable()
            print(
                f"a turn of {STEPS} steps of {STEPS} calls: {statistics.median(costs) * 1000:.1f} ms of CPU"
            )
        finally:
            await hub.aclose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    asyncio.run(measure(parser.parse_args().rounds))


if __name__ == "__main__":
    main()
