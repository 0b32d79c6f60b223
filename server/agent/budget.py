"""How much room all results of a turn have together, and who gives way when it gets narrow. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_LEAST_TOKENS: Final = 64
_LEAST_SHARE: Final = 0.1
_REPLY_TOKENS: Final = 1024
_REPLY_SHARE: Final = 0.25


def allowance(share: float, chat_context: int, tool_context: int | None, prompt: int) -> int:
    """Tokens for all results together: ``share`` of the chat model's context, and no more than the tool
    model has left beside its ``prompt`` and room for an answer."""
    tokens = int(share * chat_context)
    if tool_context is not None:
        answer = min(_REPLY_TOKENS, int(tool_context * _REPLY_SHARE))
        tokens = min(tokens, tool_context - prompt - answer)
    return max(0, tokens)


def allot(sizes: Sequence[int], tokens: int, *, newest: int) -> list[int] | None:
    """What stays of results of ``sizes`` tokens so that they fit ``tokens`` together.

    The ``newest`` last ones stay whole as long as the older ones can give way, the largest first. Nothing
    is cut to less than a tenth, or 64 tokens: where that isn't enough, the budget is spent, and the answer
    is None.
    """
    floors = [min(size, max(_LEAST_TOKENS, int(size * _LEAST_SHARE))) for size in sizes]
    first = len(sizes) - newest
    older = _lowered(sizes[:first], floors[:first], tokens - sum(sizes[first:]))
    newer = _lowered(sizes[first:], floors[first:], tokens - sum(older))
    kept = [*older, *newer]
    return kept if sum(kept) <= tokens else None


def squeeze(sizes: Sequence[int], tokens: int) -> list[int]:
    """Like :func:`allot` with no lower bound and no favour for the newest: it always fits."""
    return _lowered(sizes, [0] * len(sizes), tokens)


def _lowered(sizes: Sequence[int], floors: Sequence[int], tokens: int) -> list[int]:
    """``sizes`` under the highest common ceiling that makes them fit, none below its floor."""
    if sum(sizes) <= tokens:
        return list(sizes)

    def under(ceiling: int) -> list[int]:
        return [min(size, max(floor, ceiling)) for size, floor in zip(sizes, floors, strict=True)]

    low, high = 0, max(sizes, default=0)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(under(middle)) <= tokens:
            low = middle
        else:
            high = middle - 1
    return under(low)
