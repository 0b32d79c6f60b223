"""One repair of a model's history, before every request. Pure.

Providers refuse a request for good over a call without a result, a result without a call, or an empty
message. Whatever broke the history (an abort, a crash, a stored turn), here it becomes whole again; what is
whole stays the same object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

CANCELLED: Final = "cancelled: this call was stopped before it gave a result"
_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool"})


def repair(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """``messages`` with exactly one result for each call, right behind them and in their order."""
    repaired: list[Mapping[str, Any]] = []
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        role = message.get("role")
        if role == "tool" or role not in _ROLES:
            continue
        calls = message.get("tool_calls")
        if role != "assistant" or not calls:
            if message.get("content") or role != "assistant":
                repaired.append(message)
            continue
        results: dict[str, Mapping[str, Any]] = {}
        while at < len(messages) and messages[at].get("role") == "tool":
            results.setdefault(str(messages[at].get("tool_call_id")), messages[at])
            at += 1
        repaired.append(message)
        repaired += [results.get(str(call.get("id"))) or _cancelled(call) for call in calls]
    return repaired


def _cancelled(call: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call.get("id"), "content": CANCELLED}
