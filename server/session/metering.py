"""A hub that counts what its whole answers cost, as they come: a turn that is stopped has cost it too."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from server.models.completion import Completion
from server.models.events import RoleModel
from server.models.hub import ModelHub
from server.models.tokens import count_prompt
from server.protocol import Role, Usage
from server.session.usage import UsageLedger


class Metered:
    """What the tool loop and the eyes need of ``hub``, counted for ``role``."""

    def __init__(self, hub: ModelHub, role: Role, ledger: UsageLedger) -> None:
        self._hub = hub
        self._role: Role = role
        self._ledger = ledger

    async def resolve(self, role: Role) -> RoleModel:
        return await self._hub.resolve(role)

    async def calls_tools(self, model: RoleModel) -> bool:
        return await self._hub.calls_tools(model)

    async def complete(
        self, model: RoleModel, messages: Sequence[Mapping[str, Any]], **wanted: Any
    ) -> Completion:
        """As :meth:`server.models.hub.ModelHub.complete`; one that is cancelled counts by our estimate."""
        try:
            completion = await self._hub.complete(model, messages, **wanted)
        except asyncio.CancelledError:
            await self._ledger.add(self._role, Usage(prompt=count_prompt(messages)))
            raise
        await self._ledger.add(self._role, completion.usage)
        return completion
