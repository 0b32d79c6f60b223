"""Two scripted models in a process of their own: a chat model and a tool model that take their time.

``python -m bench.slow_models --chat-ms 400 --tool-ms 300`` prints their two addresses as JSON and runs until
it is ended. The tool model reads ``notes.txt`` when the user's message names the notes, once, and calls
nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.fakes.openai_server import Paced, Reply, Request, Scripted, ScriptedProvider
from tests.fakes.replies import Exchange

TOKENS = 20
TOKEN_S = 0.02


class Late(Scripted):
    """``then``, after ``wait_s``."""

    def __init__(self, wait_s: float, then: Scripted) -> None:
        self.wait_s = wait_s
        self.then = then

    async def play(self, exchange: Exchange) -> None:
        await asyncio.sleep(self.wait_s)
        await self.then.play(exchange)


def decide(request: Request) -> Reply:
    """The tool model's answer; a companion that doubts whether it calls tools at all makes it call one."""
    messages = request.body["messages"]
    if request.body.get("tool_choice") == "required":
        return _call(request.body["tools"][0]["function"]["name"], {})
    if messages[-1]["role"] == "tool" or "notes" not in messages[-1]["content"]:
        return Reply("done")
    return _call("tool__read_file", {"path": "notes.txt"})


def _call(name: str, arguments: dict[str, str]) -> Reply:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return Reply(finish="tool_calls", tool_calls=[{"id": "c1", "type": "function", "function": function}])


@contextlib.contextmanager
def slow_models(chat_ms: int, tool_ms: int) -> Iterator[tuple[str, str]]:
    """The addresses of the chat model and the tool model."""
    arguments = ["--chat-ms", str(chat_ms), "--tool-ms", str(tool_ms)]
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.slow_models", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    assert process.stdout is not None
    try:
        chat, tool = json.loads(process.stdout.readline())
        yield chat, tool
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def _run(chat_ms: int, tool_ms: int) -> None:
    async with ScriptedProvider() as chat, ScriptedProvider() as tool:
        spoken = Late(chat_ms / 1000, Paced(TOKENS, TOKEN_S))
        chat.route("POST", "/v1/chat/completions", spoken)
        tool.route("POST", "/v1/chat/completions", lambda request: Late(tool_ms / 1000, decide(request)))
        print(json.dumps([chat.base_url, tool.base_url]), flush=True)
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chat-ms", type=int, default=400)
    parser.add_argument("--tool-ms", type=int, default=300)
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_run(options.chat_ms, options.tool_ms))


if __name__ == "__main__":
    main()
