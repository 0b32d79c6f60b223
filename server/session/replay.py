"""The frames that a session keeps for clients that come back."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

MAX_FRAMES = 2000
MAX_BYTES = 1024 * 1024
SEQ_BLOCK = 100_000
"""Sequence numbers are reserved on disk in such blocks, so that those of a later run are all larger."""


class Replay:
    """The newest frames of a session, ``MAX_FRAMES`` and ``MAX_BYTES`` at most.

    Args:
        newest: the sequence number before the first frame of this run. A client whose last number
            is older than that comes from before a restart and can't be resumed.
    """

    def __init__(self, newest: int) -> None:
        self.newest = newest
        self._frames: deque[tuple[int, str, int]] = deque()
        self._bytes = 0
        self._reaches_back_to = newest

    def keep(self, seq: int, text: str) -> None:
        self.newest = seq
        size = len(text) if text.isascii() else len(text.encode())
        self._frames.append((seq, text, size))
        self._bytes += size
        while len(self._frames) > MAX_FRAMES or self._bytes > MAX_BYTES:
            dropped, _, size = self._frames.popleft()
            self._bytes -= size
            self._reaches_back_to = dropped

    def can_resume(self, last_seq: int) -> bool:
        """Whether every frame after ``last_seq`` is still here."""
        return self._reaches_back_to <= last_seq <= self.newest

    def after(self, last_seq: int) -> Iterator[str]:
        return (text for seq, text, _ in self._frames if seq > last_seq)
