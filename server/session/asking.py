"""Asks the chat model and streams its answer into the reply, with the remedies that cost nothing.

Two failures are mended once, before anything was shown: an empty answer is asked for again, and a
prompt that doesn't fit is sent with half of the chat.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from server.agent.prompt import ChatPrompt, ModelMessage
from server.errors import PetError
from server.expression.pairs import whole
from server.models.events import ChatEvent, Finish, ReasoningDelta, RoleModel, TextDelta
from server.models.hub import ModelHub
from server.models.tokens import count_prompt, count_tokens
from server.protocol import Usage
from server.session.reply import Reply
from server.session.speculation import Speculation

MAX_REPLY_CHARS = 400_000
_CONTENT_FILTER = "content_filter"
_REASON_CHARS = 40


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """What ``[chat]`` says about every request to the chat model."""

    temperature: float
    max_recent_messages: int
    context_tokens: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the answer ended.

    Attributes:
        usage: the provider's count, or None where it gives none.
        estimated: our own count, prompt and completion.
    """

    finish_reason: str
    usage: Usage | None
    estimated: Usage


def fitted(
    prompt: ChatPrompt, model: RoleModel, settings: ChatSettings, max_recent: int | None = None
) -> list[ModelMessage]:
    """The messages that fit the model's context, with ``max_recent`` messages of the chat at most."""
    return prompt.messages(
        max_recent=settings.max_recent_messages if max_recent is None else max_recent,
        context_tokens=model.context_tokens or settings.context_tokens,
        count_tokens=count_tokens,
    )


def ask(
    hub: ModelHub, model: RoleModel, messages: Sequence[ModelMessage], settings: ChatSettings
) -> AsyncGenerator[ChatEvent, None]:
    return hub.stream_chat(model, messages, temperature=settings.temperature)


def speculate(hub: ModelHub, model: RoleModel, prompt: ChatPrompt, settings: ChatSettings) -> Speculation:
    """Begins the answer that a fast turn would give, unseen."""
    messages = fitted(prompt, model, settings)
    return Speculation(ask(hub, model, messages, settings), count_prompt(messages))


async def stream_reply(
    hub: ModelHub,
    model: RoleModel,
    prompt: ChatPrompt,
    reply: Reply,
    settings: ChatSettings,
    first_token_s: float,
    begun: Speculation | None = None,
) -> Outcome:
    """Streams the chat model's answer into ``reply`` and closes it.

    Args:
        begun: a stream of the same prompt that has begun already.

    Raises:
        PetError: the provider's failure, ``first_token_timeout`` or ``empty_reply``.
    """
    max_recent = settings.max_recent_messages
    retried = False
    while True:
        messages = fitted(prompt, model, settings, max_recent)
        finish = Finish(reason="stop", usage=None, estimated_prompt=count_prompt(messages))
        received = 0
        try:
            async with asyncio.timeout(first_token_s) as first_token:
                stream = begun.events() if begun else ask(hub, model, messages, settings)
                begun = None
                async with aclosing(stream):
                    async for event in stream:
                        if isinstance(event, TextDelta):
                            reply.feed(event.text)
                        elif isinstance(event, ReasoningDelta):
                            reply.think(event.text)
                        else:
                            finish = event
                            continue
                        received += len(event.text)
                        if received > MAX_REPLY_CHARS:
                            finish = replace(finish, reason="length")
                            break
                        if event.text and first_token.when() is not None:
                            first_token.reschedule(None)
        except TimeoutError:
            raise PetError(
                "first_token_timeout",
                "turn.first_token_timeout",
                hint="turn.first_token_timeout_hint",
                retryable=True,
                provider=model.provider,
                seconds=round(first_token_s),
            ) from None
        except PetError as error:
            recent = min(max_recent, len(prompt.recent))
            if error.code != "context_overflow" or retried or not reply.blank or recent == 0:
                raise
            retried, max_recent = True, recent // 2
            continue
        reply.close()
        if not reply.blank:
            estimated = Usage(prompt=finish.estimated_prompt, completion=count_tokens(reply.text))
            reason = whole(finish.reason)[:_REASON_CHARS]
            return Outcome(reason, finish.usage, estimated)
        if retried or finish.reason == _CONTENT_FILTER:
            raise PetError(
                "empty_reply",
                "turn.filtered" if finish.reason == _CONTENT_FILTER else "turn.empty_reply",
                hint="turn.empty_reply_hint",
                retryable=finish.reason != _CONTENT_FILTER,
                model=model.model,
            )
        retried = True
