"""Turns the chunks of a chat stream into events. No I/O; one small dict walk a chunk."""

from __future__ import annotations

import json
from typing import Any

from server.models.events import ChatEvent, ReasoningDelta, TextDelta
from server.models.tokens import told_usage
from server.protocol import Usage

_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")


class ErrorInStream(Exception):
    """The provider reported a failure with HTTP 200, inside its stream; ``body`` is what it sent."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__("error in the stream")
        self.body = body


class ChunkReader:
    """Reads one stream.

    Attributes:
        finish_reason: as the provider said it, None until then.
        done: the provider said that the stream is over.
        usage: the provider's count of tokens.
        reasoning_field: the field in which thinking came.
        recognised: at least one payload was a chunk.
    """

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self.done = False
        self.usage: Usage | None = None
        self.reasoning_field: str | None = None
        self.recognised = False

    @property
    def ended(self) -> bool:
        return self.done or self.finish_reason is not None

    def read(self, payload: bytes) -> list[ChatEvent]:
        """The events of one chunk's first choice; a payload that can't be read has none.

        Raises:
            ErrorInStream: the chunk says that the provider failed.
        """
        if payload.startswith(b"[DONE]"):
            self.done = True
            return []
        try:
            chunk = json.loads(payload)
        except (ValueError, RecursionError):
            return []
        if not isinstance(chunk, dict):
            return []
        if chunk.get("error") or chunk.get("object") == "error":
            raise ErrorInStream(chunk)
        if usage := chunk.get("usage"):
            self._read_usage(usage)
        choices = chunk.get("choices")
        given = [one for one in choices if isinstance(one, dict)] if isinstance(choices, list) else []
        self.recognised = self.recognised or bool(given)
        choice = next((one for one in given if one.get("index") in (None, 0)), {})
        if isinstance(reason := choice.get("finish_reason"), str) and reason:
            self.finish_reason = reason
        delta = choice.get("delta") or choice.get("message")
        return self._read_delta(delta) if isinstance(delta, dict) else []

    def _read_delta(self, delta: dict[str, Any]) -> list[ChatEvent]:
        events: list[ChatEvent] = []
        for field in _REASONING_FIELDS:
            if isinstance(thought := delta.get(field), str) and thought:
                self.reasoning_field = field
                events.append(ReasoningDelta(thought))
                break
        content = delta.get("content")
        if isinstance(content, str):
            if content:
                events.append(TextDelta(content))
        elif isinstance(content, list):
            for part in content:
                if isinstance(part, dict):
                    events += _read_part(part)
        return events

    def _read_usage(self, usage: Any) -> None:
        if isinstance(usage, dict):
            told = told_usage(usage.get("prompt_tokens"), usage.get("completion_tokens"))
            self.usage = told or self.usage


def _read_part(part: dict[str, Any]) -> list[ChatEvent]:
    text, thinking = part.get("text"), part.get("thinking")
    if isinstance(text, str) and text:
        return [TextDelta(text)]
    if isinstance(thinking, str) and thinking:
        return [ReasoningDelta(thinking)]
    if isinstance(thinking, list):
        inner = (piece.get("text") for piece in thinking if isinstance(piece, dict))
        return [ReasoningDelta(piece) for piece in inner if isinstance(piece, str) and piece]
    return []
