"""A hub over a real lab.toml, and scripted providers on real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from server.config.store import ConfigStore
from server.models.chat import Patience
from server.models.hub import ModelHub
from tests.fakes.openai_server import ScriptedProvider

QUICK = Patience(retries=1, pause_s=0.0, longest_pause_s=4.0, idle_s=60.0)
NOBODY = "http://127.0.0.1:9/v1"  # the discard port, where nothing listens
ALONE = f"""
[llm.providers.ollama]
base_url = "{NOBODY}"
[llm.providers.lmstudio]
base_url = "{NOBODY}"
"""

MakeHub = Callable[..., Awaitable[ModelHub]]


@pytest.fixture
async def provider() -> AsyncIterator[ScriptedProvider]:
    async with ScriptedProvider() as scripted:
        yield scripted


@pytest.fixture
async def make_hub(tmp_path: Path) -> AsyncIterator[MakeHub]:
    """Makes hubs from the text of a lab.toml; started unless ``started=False``."""
    async with AsyncExitStack() as stack:

        async def make(
            text: str, *, started: bool = True, patience: Patience = QUICK, look_again_s: float = 600.0
        ) -> ModelHub:
            path = tmp_path / "lab.toml"
            path.write_text(text, encoding="utf-8")
            store = ConfigStore(path, tmp_path / "data")
            hub = ModelHub(
                store,
                store.keys,
                tmp_path / "data",
                patience=patience,
                look_again_s=(look_again_s, look_again_s),
            )
            stack.push_async_callback(hub.aclose)
            if started:
                await hub.start()
            return hub

        yield make


def chat_with(base_url: str, *, model: str = "scripted-chat", key: str = "", more: str = "") -> str:
    """A lab.toml whose chat role is one provider, ``scripted``."""
    return f"""
[llm.providers.scripted]
base_url = "{base_url}"
api_key = "{key}"
[agent.models.chat]
provider = "scripted"
model = "{model}"
{more}
"""
