"""Companions whose models are scripted providers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.openai_server import ScriptedProvider
from tests.support.companion import NO_TOOLS, Companion, companion, lab_toml
from tests.support.roles import Roles


@pytest.fixture
async def provider() -> AsyncIterator[ScriptedProvider]:
    async with ScriptedProvider() as scripted:
        yield scripted


@pytest.fixture
async def pet(provider: ScriptedProvider, tmp_path: Path) -> AsyncIterator[Companion]:
    """Without tools: every turn is fast."""
    config = lab_toml(provider.base_url, extra=NO_TOOLS)
    async with companion(tmp_path, config, first_token_s=5.0) as running:
        yield running


@pytest.fixture
async def roles() -> AsyncIterator[Roles]:
    async with ScriptedProvider() as tool, ScriptedProvider() as chat:
        yield Roles(tool, chat)
