"""The turn that a tool is called in, for tests of tools."""

from __future__ import annotations

from tools.contract import Capability, PicturePart


class CallFor:
    """A :class:`tools.contract.CallContext` that answers as it was told and keeps what it was asked.

    Args:
        allowed: the owner's answer to every question.
        pictures: the stored ones, by reference.
    """

    def __init__(
        self,
        *,
        allowed: bool = True,
        pictures: dict[str, PicturePart] | None = None,
        known_urls: frozenset[str] = frozenset(),
    ) -> None:
        self.turn = 1
        self.known_urls = known_urls
        self.allowed = allowed
        self.pictures = pictures or {}
        self.asked: list[tuple[Capability, str]] = []
        self.notes: list[tuple[float | None, float | None, str | None]] = []

    def progress(
        self, done: float | None = None, total: float | None = None, note: str | None = None
    ) -> None:
        self.notes.append((done, total, note))

    async def consent(self, capability: Capability, detail: str) -> bool:
        self.asked.append((capability, detail))
        return self.allowed

    def picture(self, ref: str) -> PicturePart | None:
        return self.pictures.get(ref)
