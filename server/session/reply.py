"""From what the chat model streams to what the clients see.

One way through: thinking is split off, hidden markers become events, text becomes deltas and
sentences. Text that arrives faster than the loop turns is joined into one delta, never queued.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import cast

from server.expression.markers import ExpressionCue, MarkerParser, MotionCue
from server.expression.pairs import PairJoiner
from server.expression.reasoning import ReasoningSplitter, Thinking
from server.expression.reasoning import Reply as Spoken
from server.expression.sentences import SentenceSplitter
from server.protocol import (
    Delta,
    Expression,
    ExpressionFrame,
    Motion,
    MotionFrame,
    Reasoning,
    Sentence,
    ServerMessage,
)
from server.visible import is_blank


class Reply:
    """One reply while it streams.

    Args:
        turn: the turn's number.
        emit: sends one frame to the session's clients.
        on_shown: called after each visible delta.
    """

    def __init__(
        self, turn: int, emit: Callable[[ServerMessage], None], on_shown: Callable[[], None]
    ) -> None:
        self._turn = turn
        self._emit = emit
        self._on_shown = on_shown
        self._sentence_count = 0
        self.reopen()
        self._shown: list[str] = []
        self._pending: list[str] = []
        self._pending_thought: list[str] = []
        self._flush_handle: asyncio.Handle | None = None
        self._loop = asyncio.get_running_loop()

    @property
    def text(self) -> str:
        """The visible text so far."""
        if len(self._shown) > 1:
            self._shown = ["".join(self._shown)]
        return self._shown[0] if self._shown else ""

    @property
    def blank(self) -> bool:
        """Whether nothing was said that could be seen."""
        return is_blank("".join((*self._shown, *self._pending)))

    def feed(self, text: str) -> None:
        """Takes the next piece of the model's content."""
        self._split(self._reasoning.feed(self._pairs.feed(text)))
        self._flush_soon()

    def think(self, text: str) -> None:
        """Takes the next piece of the model's thinking."""
        self._pending_thought.append(self._thought_pairs.feed(text))
        self._flush_soon()

    def reopen(self) -> None:
        """Starts reading a new answer; what was shown stays shown."""
        self._pairs = PairJoiner()
        self._thought_pairs = PairJoiner()
        self._reasoning = ReasoningSplitter()
        self._markers = MarkerParser()
        self._sentences = SentenceSplitter()

    def close(self) -> None:
        """Shows what was still held back; the answer is over."""
        self._split(self._reasoning.feed(self._pairs.close()))
        self._split(self._reasoning.close())
        self._mark(self._markers.close())
        self._flush()
        self._speak(self._sentences.close())
        self.reopen()

    def abandon(self) -> None:
        """Stops without showing anything more."""
        if self._flush_handle is not None:
            self._flush_handle.cancel()
            self._flush_handle = None
        self._pending.clear()
        self._pending_thought.clear()

    def _split(self, parts: Sequence[Spoken | Thinking]) -> None:
        for part in parts:
            if isinstance(part, Thinking):
                self.think(part.text)
            else:
                self._mark(self._markers.feed(part.text))

    def _mark(self, items: list[str | MotionCue | ExpressionCue]) -> None:
        for item in items:
            if isinstance(item, str):
                self._pending.append(item)
                continue
            self._flush()
            if isinstance(item, MotionCue):
                self._emit(MotionFrame(turn=self._turn, motion=cast(Motion, item.name)))
            else:
                self._emit(ExpressionFrame(turn=self._turn, expression=cast(Expression, item.name)))

    def _flush_soon(self) -> None:
        if self._flush_handle is None and (self._pending or self._pending_thought):
            self._flush_handle = self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        if self._flush_handle is not None:
            self._flush_handle.cancel()
            self._flush_handle = None
        if thought := "".join(self._pending_thought):
            self._emit(Reasoning(turn=self._turn, text=thought))
        self._pending_thought.clear()
        if not self._pending:
            return
        text = "".join(self._pending)
        self._pending.clear()
        if not self._shown:
            text = text.lstrip()
            if not text:
                return
            self._emit(MotionFrame(turn=self._turn, motion="talk"))
        self._shown.append(text)
        self._emit(Delta(turn=self._turn, text=text))
        self._speak(self._sentences.feed(text))
        self._on_shown()

    def _speak(self, sentences: list[str]) -> None:
        for sentence in sentences:
            self._emit(Sentence(turn=self._turn, index=self._sentence_count, text=sentence))
            self._sentence_count += 1
