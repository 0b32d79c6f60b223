"""What the model layer hands to the turn: plain values, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from server.errors import PetError
from server.protocol import Capabilities, Guide, StateName, Usage


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the reply as the provider sent it: markers and ``<think>`` tags are still inside."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of thinking that came in a field of its own."""

    text: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of a stream; always its last event.

    Attributes:
        reason: the provider's ``finish_reason``, ``stop`` where it only said that it was done.
        usage: tokens as the provider counted them, None where it didn't tell.
        estimated_prompt: our own estimate of the prompt, in tokens.
    """

    reason: str
    usage: Usage | None
    estimated_prompt: int


ChatEvent: TypeAlias = TextDelta | ReasoningDelta | Finish


@dataclass(frozen=True, slots=True)
class RoleModel:
    """The model that fills a role now.

    Attributes:
        context_tokens: its context as the server tells it; None where the server doesn't.
        local: it runs on this machine.
        demo: it is the small demonstration model.
    """

    provider: str
    model: str
    capabilities: Capabilities
    context_tokens: int | None
    local: bool
    demo: bool


@dataclass(frozen=True, slots=True)
class Connection:
    """Whether the companion can talk, as the page shows it."""

    state: StateName
    detail: str | None = None
    guide: Guide | None = None
    error: PetError | None = None

    def same_as(self, other: Connection) -> bool:
        """Whether a user would see no difference."""
        return self._seen() == other._seen()

    def _seen(self) -> tuple[object, ...]:
        error = self.error
        told = (error.code, error.text, tuple(sorted(error.params.items()))) if error else None
        return (self.state, self.detail, self.guide, told)
