"""One turn, word for word: "take a screenshot and search for X, then compare".

    python -m bench.transcript

Everything is real but the two models, whose answers are scripted: the companion, a screen (Xvfb, so Linux
only), a search service that speaks SearXNG's form, and a page. What is printed is what the client was sent
and what the models were sent, in the order of time: without the frames that only move the character, with
long lines cut and ports and the time masked. docs/tools.md shows it, and a test holds it to that.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.fakes.openai_server import Reply, Request, ScriptedProvider
from tests.support.companion import Talker, companion, lab_toml
from tests.support.website import Asked, Website, answer
from tests.support.x11 import x_display

WORDS = "Take a screenshot and search the web for the harbour flag, then compare the two."
QUERY = "harbour flag colours"
PAGE = "<title>Harbour flag</title><h1>Harbour flag</h1><p>It is blue, with a yellow square inside.</p>"
BLUE, YELLOW = 0x2050A0, 0xF0C020
WIDTH = 96
_MASKS = ((re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:8888"), (re.compile(r"^(local time: ).*"), r"\1[…]"))


@dataclass
class Transcript:
    """What happened in one turn.

    Attributes:
        frames: what the client was sent, from ``turn.start`` on.
        requests: what each model was sent.
        spoken: who else said what, line by line, and how many frames had been sent before.
    """

    frames: list[dict[str, Any]] = field(default_factory=list)
    requests: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: {"tool": [], "chat": []})
    spoken: list[tuple[int, str, Sequence[str]]] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """All of it in the order of time, in columns."""
        waiting = list(self.spoken)
        for place, frame in enumerate(self.frames):
            while waiting and waiting[0][0] <= place:
                _, who, said = waiting.pop(0)
                yield from _in_columns(who, said)
            yield from _in_columns("to the page", _frame(frame))


class _Models:
    """Answers by the script and writes down what it is asked."""

    def __init__(self, told: Transcript, script: Mapping[str, Sequence[Reply]], page: Talker) -> None:
        self._told = told
        self._script = {role: list(replies) for role, replies in script.items()}
        self._page = page
        self._before = len(page.frames)
        self.note("the user", [WORDS])

    def note(self, who: str, said: Sequence[str]) -> None:
        self._told.spoken.append((len(self._page.frames) - self._before, who, said))

    def take(self, role: str, request: Request) -> Reply:
        sent = self._told.requests[role]
        messages = request.body["messages"]
        known = len(sent[-1]["messages"]) + 1 if sent else 0  # with its own answer
        sent.append(request.body)
        self.note(
            f"to the {role} model", [line for message in messages[known:] for line in _message(message)]
        )
        reply = self._script[role].pop(0)
        self.note(f"the {role} model", _reply(reply))
        return reply

    def frames(self) -> list[dict[str, Any]]:
        return self._page.frames[self._before :]


async def record(folder: Path) -> Transcript:
    """Plays the turn in ``folder``, on the screen that ``DISPLAY`` names."""
    told = Transcript()
    owner_asked = asyncio.Event()

    async def results(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await owner_asked.wait()  # so that what happens at the same time is told in one order
        found = [{"title": "Harbour flag", "url": site.url("/flag"), "content": "What it looks like."}]
        writer.write(answer(json.dumps({"results": found}), kind="application/json"))

    async with Website() as site, ScriptedProvider() as tool, ScriptedProvider() as chat:
        site.pages = {"/search": results, "/flag": answer(PAGE)}
        script = {
            "tool": [
                _calls(
                    ("vision__screen_shot", {}),
                    ("tool__web_search", {"query": QUERY}),
                    ("tool__web_fetch", {"url": site.url("/a-guess")}),
                ),
                _calls(("tool__web_fetch", {"url": site.url("/flag")})),
                Reply("done"),
            ],
            "chat": [Reply("They match: ", "blue, with a yellow square.")],
        }
        async with companion(folder, _config(chat, tool, site)) as pet:
            page = await pet.talker()
            models = _Models(told, script, page)
            tool.route("POST", "/v1/chat/completions", partial(models.take, "tool"))
            chat.route("POST", "/v1/chat/completions", partial(models.take, "chat"))
            await page.send("send", text=WORDS)
            question = await page.until("consent.request")
            owner_asked.set()
            await page.match(lambda frame: frame["type"] == "tool.end" and "search" in frame["name"])
            models.note("the owner", ["once"])
            await page.send("consent.answer", consent_id=question["consent_id"], answer="once")
            await page.until("turn.done", "turn.error")
            told.frames = models.frames()
    return told


def _calls(*calls: tuple[str, Mapping[str, str]]) -> Reply:
    """A step of the tool model."""
    made = []
    for number, (name, arguments) in enumerate(calls, 1):
        function = {"name": name, "arguments": json.dumps(arguments)}
        made.append({"id": f"c{number}", "type": "function", "function": function})
    return Reply(finish="tool_calls", tool_calls=made)


def _config(chat: ScriptedProvider, tool: ScriptedProvider, site: Website) -> str:
    return lab_toml(
        chat.base_url,
        extra=f"""
supports_vision = true
[llm.providers.router]
base_url = "{tool.base_url}"
[agent.models.tool]
provider = "router"
model = "scripted-chat"
[agent.web]
search_provider = "searxng"
allow_private = ["{site.authority}"]
searxng.url = "{site.url().rstrip("/")}"
""",
    )


def _message(message: Mapping[str, Any]) -> Iterator[str]:
    """A message to a model, line by line; of what is the same in every turn only the beginning."""
    content: str | list[dict[str, Any]] = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for place, part in enumerate(parts):
        who = f"{message['role']}: " if place == 0 else "+ "
        if part["type"] == "image_url":
            yield f"{who}{part['image_url']['url'].partition(',')[0]},[…]"
            continue
        first, *others = part["text"].splitlines()
        if message["role"] == "system":
            first, others = (first, []) if len(first) <= 60 else (f"{first[:60]}[…]", [])
        yield who + first
        yield from others


def _reply(reply: Reply) -> list[str]:
    if reply.tool_calls:
        return [f"{call['function']['name']} {call['function']['arguments']}" for call in reply.tool_calls]
    return ["".join(part for part in reply.parts if isinstance(part, str))]


def _frame(frame: Mapping[str, Any]) -> list[str]:
    """A frame in a line; nothing for those that only move the character or say how far things are."""
    kind = frame["type"]
    if kind == "turn.route":
        return [f"{kind} {frame['path']}: {', '.join(frame['reasons'])}"]
    if kind == "consent.request":
        return [f"{kind} {frame['capability']} {frame['detail']}"]
    if kind == "tool.start":
        return [f"{kind} step {frame['step']} {frame['name']}"]
    if kind == "tool.end":
        picture = ", with a thumbnail" if "thumbnail" in frame else ""
        return [f"{kind} step {frame['step']} {frame['name']} {frame['outcome']}{picture}"]
    if kind in ("delta", "turn.done", "turn.error"):
        return [f"{kind} {frame.get('text') or frame.get('message')}"]
    return []


def _in_columns(who: str, said: Sequence[str]) -> Iterator[str]:
    for place, line in enumerate(said):
        for pattern, mask in _MASKS:
            line = pattern.sub(mask, line)
        shown = line if len(line) <= WIDTH else line[:WIDTH].rstrip() + "[…]"
        yield f"{who if place == 0 else '':<18}{shown}".rstrip()


@contextmanager
def screen() -> Iterator[None]:
    """A display with a blue window and a yellow square, as the one that there is."""
    with x_display(640, 400) as display, display.painter() as painter:
        window = painter.window((0, 0, 640, 400))
        painter.fill(window, BLUE, [(0, 0, 640, 400)])
        painter.fill(window, YELLOW, [(270, 150, 100, 100)])
        before = {name: os.environ.pop(name, None) for name in ("DISPLAY", "WAYLAND_DISPLAY")}
        os.environ["DISPLAY"] = display.name
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value


def main() -> None:
    with screen(), tempfile.TemporaryDirectory() as folder:
        told = asyncio.run(record(Path(folder)))
    print("\n".join(told.lines()))


if __name__ == "__main__":
    main()
