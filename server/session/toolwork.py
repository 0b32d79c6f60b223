"""A turn's tools towards the session: what they may use of it, and what its clients see of them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final

from server.agent.trace import CallEnded, CallStarted, LoopEvent
from server.config.switches import Effective
from server.protocol import ServerMessage, Thumbnail, ToolEnd, ToolProgress, ToolStart
from server.session.workbench import Workbench
from tools.contract import Capability, PicturePart

_PROGRESS_EVERY_S: Final = 0.25


class ToolWork:
    """One turn's.

    Args:
        allowed: what both switches leave on, asked anew each time.
        emit: sends one frame to the session's clients.
    """

    def __init__(
        self,
        turn: int,
        bench: Workbench,
        allowed: Callable[[], Effective],
        emit: Callable[[ServerMessage], None],
    ) -> None:
        self.turn = turn
        self._bench = bench
        self._allowed = allowed
        self._emit = emit
        self._progress_told: dict[str, float] = {}

    # --- for the tools

    @property
    def known_urls(self) -> frozenset[str]:
        return self._bench.known_urls

    async def consent(self, capability: Capability, detail: str) -> bool:
        """Whether the owner allows it: by lab.toml, by an earlier answer, or now."""
        level = self._allowed().screenshot if capability == "screenshot" else self._allowed().checks
        if level == "ask":
            return await self._bench.consents.request(self.turn, capability, detail)
        return level

    def picture(self, ref: str) -> PicturePart | None:
        return self._bench.images.part(ref)

    # --- for the clients

    def tell(self, event: LoopEvent) -> None:
        """Shows what the loop does."""
        if isinstance(event, CallStarted):
            self._emit(ToolStart(turn=self.turn, step=event.step, call_id=event.call_id, name=event.name))
        elif isinstance(event, CallEnded):
            self._emit(
                ToolEnd(
                    turn=self.turn,
                    step=event.step,
                    call_id=event.call_id,
                    name=event.name,
                    outcome=event.outcome,
                    ms=event.ms,
                    error=event.error,
                    thumbnail=self._thumbnail(event.pictures),
                )
            )
        elif self._progress_is_due(event.call_id):
            self._emit(
                ToolProgress(
                    turn=self.turn,
                    call_id=event.call_id,
                    done=event.done,
                    total=event.total,
                    note=event.note,
                )
            )

    def _progress_is_due(self, call_id: str) -> bool:
        """A few times a second is enough: what is left out is overtaken anyhow."""
        now = monotonic()
        if now - self._progress_told.get(call_id, 0.0) < _PROGRESS_EVERY_S:
            return False
        self._progress_told[call_id] = now
        return True

    def _thumbnail(self, pictures: Sequence[str]) -> Thumbnail | None:
        small = self._bench.images.thumbnail(pictures[0]) if pictures else None
        return Thumbnail(data=base64.b64encode(small).decode("ascii")) if small is not None else None
