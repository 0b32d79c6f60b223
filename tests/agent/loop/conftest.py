"""A hub whose tool model is a scripted provider on a real socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.config.store import ConfigStore
from server.models.chat import Patience
from server.models.hub import ModelHub
from tests.agent.loop.workshop import Workshop
from tests.fakes.openai_server import ScriptedProvider


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    async with ScriptedProvider() as provider:
        path = tmp_path / "lab.toml"
        path.write_text(
            f"""
            [llm.providers.scripted]
            base_url = "{provider.base_url}"
            [agent.models.chat]
            provider = "scripted"
            model = "scripted-chat"
            """,
            encoding="utf-8",
        )
        store = ConfigStore(path, tmp_path / "data")
        hub = ModelHub(store, store.keys, tmp_path / "data", patience=Patience(retries=0, answer_s=10))
        await hub.start()
        try:
            yield Workshop(hub, provider)
        finally:
            await hub.aclose()
