"""What the chat model is sent, in the order that behaviour.md gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

ModelMessage: TypeAlias = dict[str, Any]

_REPLY_SHARE = 0.25
_REPLY_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class Exchange:
    """A message of the chat as the model may see it."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """The parts of the chat model's prompt.

    Attributes:
        system: persona and marker format.
        recent: the chat before this turn, oldest first.
        reminder: who the character is, against drift from old messages; "" = none.
        sample: an exchange that shows how the character talks, before the chat.
        composed: the turn's composed user message.
        pictures: content parts for a chat model that sees (:func:`server.agent.sight.image_parts`).
    """

    system: str
    recent: Sequence[Exchange]
    reminder: str
    composed: str
    pictures: Sequence[Mapping[str, Any]] = ()
    sample: Sequence[Exchange] = ()

    def messages(
        self, *, max_recent: int, context_tokens: int, count_tokens: Callable[[str], int]
    ) -> list[ModelMessage]:
        """The provider's messages; the recent ones are cut from the oldest to fit.

        Args:
            max_recent: how many messages of the chat at most.
            context_tokens: the model's whole window; a part of it stays free for the reply.
            count_tokens: estimate for one text.
        """
        reserve = min(_REPLY_TOKENS, int(context_tokens * _REPLY_SHARE))
        sample = (said.text for said in self.sample)
        fixed = sum(map(count_tokens, (self.system, self.reminder, self.composed, *sample)))
        recent = alternate(self.recent[-max_recent:] if max_recent > 0 else ())
        unanswered = recent.pop().text if recent and recent[-1].role == "user" else None
        recent = _newest_that_fit(recent, context_tokens - reserve - fixed, count_tokens)
        composed = f"{unanswered}\n\n{self.composed}" if unanswered else self.composed
        return [
            {"role": "system", "content": self.system},
            *({"role": said.role, "content": said.text} for said in (*self.sample, *recent)),
            *([{"role": "system", "content": self.reminder}] if self.reminder else ()),
            {"role": "user", "content": self._with_pictures(composed)},
        ]

    def _with_pictures(self, text: str) -> str | list[Mapping[str, Any]]:
        return [{"type": "text", "text": text}, *self.pictures] if self.pictures else text


def alternate(exchanges: Sequence[Exchange]) -> list[Exchange]:
    """The same chat with strictly alternating roles, a user's message first.

    Messages of one role in a row (a turn failed, or was replaced) are joined; empty ones vanish.
    """
    result: list[Exchange] = []
    for exchange in exchanges:
        if not exchange.text.strip():
            continue
        if result and result[-1].role == exchange.role:
            joined = f"{result[-1].text}\n\n{exchange.text}"
            result[-1] = Exchange(exchange.role, joined)
        elif result or exchange.role == "user":
            result.append(exchange)
    return result


def _newest_that_fit(
    exchanges: list[Exchange], budget: int, count_tokens: Callable[[str], int]
) -> list[Exchange]:
    kept = len(exchanges)
    while kept > 0:
        budget -= count_tokens(exchanges[kept - 1].text)
        if budget < 0:
            break
        kept -= 1
    fitting = exchanges[kept:]
    return fitting[1:] if fitting and fitting[0].role == "assistant" else fitting
