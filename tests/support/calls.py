"""What a call of a tool gets of its turn, in tests of tools."""

from __future__ import annotations

from dataclasses import dataclass, field

from tools.contract import Capability, PicturePart


@dataclass
class Context:
    """A :class:`tools.contract.CallContext`.

    Attributes:
        consents: what the owner answers.
        asked: what the owner was asked.
        told: the progress that was reported.
    """

    turn: int = 1
    known_urls: frozenset[str] = frozenset()
    consents: bool = True
    pictures: dict[str, PicturePart] = field(default_factory=dict)
    asked: list[tuple[Capability, str]] = field(default_factory=list)
    told: list[tuple[float | None, float | None, str | None]] = field(default_factory=list)

    def progress(
        self, done: float | None = None, total: float | None = None, note: str | None = None
    ) -> None:
        self.told.append((done, total, note))

    async def consent(self, capability: Capability, detail: str) -> bool:
        self.asked.append((capability, detail))
        return self.consents

    def picture(self, ref: str) -> PicturePart | None:
        return self.pictures.get(ref)
