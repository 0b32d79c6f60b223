"""The loop with the real demonstration model, which calls no tools natively. Nothing asserts its wording."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.agent.images import ImageStore
from server.agent.loop import LoopJob, run_tools
from server.agent.tool_prompt import load_tool_router, tool_messages
from server.agent.trace import LoopOutcome
from server.config.schema import ToolLoop, ToolOverride
from server.config.store import ConfigStore
from server.models.hub import ModelHub
from tests.agent.loop.workshop import Shelf, Turn, takes, tool

pytest.importorskip("xllamacpp")

NOBODY = "http://127.0.0.1:9/v1"
ASKED = {
    "What time is it now?": "timeemi__get_date_and_time",
    "Roll a dice for me": "timeemi__roll_dice",
    "What can you see on my screen?": "vision__screen_shot",
    "Show me the file src/main.py": "tool__read_file",
    "Hi there, how are you?": None,
    "Thanks, you are nice": None,
}


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[ModelHub]:
    path = tmp_path / "lab.toml"
    path.write_text(
        f'[llm.providers.ollama]\nbase_url = "{NOBODY}"\n[llm.providers.lmstudio]\nbase_url = "{NOBODY}"\n',
        encoding="utf-8",
    )
    store = ConfigStore(path, tmp_path / "data")
    made = ModelHub(store, store.keys, tmp_path / "data")
    await made.start()
    yield made
    await made.aclose()


async def asked(hub: ModelHub, words: str) -> LoopOutcome:
    turn = Turn()
    job = LoopJob(
        model=await hub.resolve("tool"),
        hub=hub,
        registry=Shelf(
            tool("timeemi__get_date_and_time", "Monday, 10:15"),
            tool("timeemi__roll_dice", "You rolled 4.", takes(count="integer")),
            tool("vision__screen_shot", "picture img_1: an editor"),
            tool("tool__read_file", "print('hi')", takes(path="string")),
        ),
        messages=tool_messages(words, router=load_tool_router(), state={}),
        settings=ToolLoop(max_steps=3),
        bounds=lambda name: ToolOverride(),
        context=turn,
        images=ImageStore(),
        chat_context=8192,
    )
    return await run_tools(job, lambda event: None)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_the_demo_model_fills_in_the_form_and_the_loop_ends(hub: ModelHub) -> None:
    right = 0
    async with asyncio.timeout(880):
        for words, wanted in ASKED.items():
            outcome = await asked(hub, words)
            assert outcome.stopped in ("answered", "max_steps")
            assert all(entry.outcome == "ok" for entry in outcome.trace)
            assert outcome.usage.completion > 0
            first = outcome.trace[0].full_name if outcome.trace else None
            print(f"{words} -> {first}")
            right += first == wanted
    assert right >= 3
    capabilities = (await hub.resolve("tool")).capabilities
    assert (capabilities.tools, capabilities.json_schema) == (False, True)
