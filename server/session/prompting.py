"""Puts the chat model's prompt together from what a turn was given and found out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from server.agent.budget import allowance
from server.agent.compose import ClientNote, compose
from server.agent.persona import Persona, demo_persona
from server.agent.prompt import ChatPrompt, Exchange
from server.agent.sight import Sight, image_parts
from server.agent.tool_summary import summarise
from server.agent.trace import LoopOutcome
from server.agent.vision import VisionOutcome
from server.masking import mask_secrets
from server.models.events import RoleModel
from server.session.asking import ChatSettings
from server.session.context import Context


@dataclass(frozen=True, slots=True)
class Told:
    """What a turn was told.

    Attributes:
        words: the user's.
        before: the chat before them, oldest first.
        context: what came with them, sanitised.
        notes: fresh context from other clients.
        facts: what the server knows itself, label to value.
    """

    words: str
    before: Sequence[Exchange]
    context: Context
    notes: Sequence[ClientNote]
    facts: dict[str, str]
    persona: Persona


@dataclass(frozen=True, slots=True)
class Found:
    """What a turn found out.

    Attributes:
        loop: the tool loop's outcome, None where none ran.
        sight: which pictures the chat model is shown.
        vision: what the vision model said of those that it can't be shown.
    """

    loop: LoopOutcome | None = None
    sight: Sight = field(default_factory=Sight)
    vision: VisionOutcome | None = None


_masked = lru_cache(maxsize=2048)(mask_secrets)
"""The same messages come with every turn."""


def chat_context(model: RoleModel, settings: ChatSettings) -> int:
    """The chat model's context in tokens: as its server tells, else as lab.toml says."""
    return model.context_tokens or settings.context_tokens


def chat_prompt(
    told: Told, found: Found, model: RoleModel, settings: ChatSettings, trace_share: float
) -> ChatPrompt:
    """The prompt of a turn.

    Args:
        trace_share: of the context, for all tool results together.
    """
    room = allowance(trace_share, chat_context(model, settings), None, 0)
    plain = model.demo  # more than the words and the results only confuses it
    composed = compose(
        told.words,
        facts={} if plain else told.facts,
        context={} if plain else told.context,
        notes=() if plain else told.notes,
        tools=summarise(found.loop, room) if found.loop is not None else "",
        vision=found.vision.section() if found.vision is not None else "",
    )
    persona = demo_persona() if model.demo else told.persona
    return ChatPrompt(
        system=persona.system,
        recent=[Exchange(said.role, _masked(said.text)) for said in told.before],
        reminder=persona.reminder,
        composed=mask_secrets(composed),
        pictures=image_parts(found.sight.shown),
        sample=persona.sample,
    )
