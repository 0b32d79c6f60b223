"""The body of a chat request, without what its model is known to refuse. No I/O."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from server.models.failure import HttpRefusal, says_overflow, says_unknown_model
from server.models.profile import Option

_SYSTEM = r"(?:system|developer) (?:message|role|instruction|prompt)s?"
_LATE_SYSTEM = re.compile(_SYSTEM + r".{0,60}(?:begin|first|start)", re.IGNORECASE | re.DOTALL)
_NO_SYSTEM = re.compile(
    _SYSTEM + r".{0,60}not (?:\w+ )?(?:support|enabl|allow|accept)"
    r"|(?:un\w*|not) (?:supported?|valid|allowed).{0,30}role.{0,20}system|invalid role.{0,20}system"
    r"|roles must alternate",
    re.IGNORECASE | re.DOTALL,
)


def request_body(
    model: str, messages: Sequence[Mapping[str, Any]], *, temperature: float, without: Collection[Option]
) -> dict[str, Any]:
    """A streamed chat request."""
    body: dict[str, Any] = {"model": model, "messages": list(messages), "stream": True}
    if "system" in without or "late_system" in without:
        body["messages"] = fold_system(messages, keep_first="system" not in without)
    if "temperature" not in without:
        body["temperature"] = temperature
    if "stream_options" not in without:
        body["stream_options"] = {"include_usage": True}
    return body


def refused_option(
    refusal: HttpRefusal, body: Mapping[str, Any], without: Collection[Option]
) -> Option | None:
    """What the provider seems to refuse in ``body`` and could do without; None where it isn't that."""
    told = refusal.body[:20_000]
    if refusal.status not in (400, 404, 415, 422, 500, 501) or says_overflow(told):
        return None
    roles = [message.get("role") for message in body["messages"]]
    if "system" in roles:
        if "system" in roles[1:] and "late_system" not in without and _LATE_SYSTEM.search(told):
            return "late_system"
        if _NO_SYSTEM.search(told) or _LATE_SYSTEM.search(told):
            return "system"
    if "stream_options" in body and ("stream_options" in told or "include_usage" in told):
        return "stream_options"
    if "temperature" in body and "temperature" in told:
        return "temperature"
    unexplained = refusal.status in (400, 422) and not says_unknown_model(told)
    return "stream_options" if unexplained and "stream_options" in body else None


def fold_system(messages: Sequence[Mapping[str, Any]], *, keep_first: bool) -> list[dict[str, Any]]:
    """``messages`` with what the system says put before the user's next words, roles still alternating."""
    folded: list[dict[str, Any]] = []
    waiting: list[str] = []
    for index, message in enumerate(messages):
        role = message.get("role")
        if role == "system" and not (keep_first and index == 0):
            waiting.append(str(message.get("content") or ""))
        elif waiting and role == "user":
            folded.append(_with_words_before(message, waiting))
            waiting = []
        elif waiting and role == "assistant":
            _append_words(folded, waiting)
            waiting = []
            folded.append(dict(message))
        else:
            folded.append(dict(message))
    if waiting:
        _append_words(folded, waiting)
    return folded


def _with_words_before(message: Mapping[str, Any], words: list[str]) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [{"type": "text", "text": "\n\n".join(words)}, *content]}
    return {**message, "content": "\n\n".join([*words, str(content or "")])}


def _append_words(folded: list[dict[str, Any]], words: list[str]) -> None:
    text = "\n\n".join(words)
    if folded and folded[-1].get("role") == "user":
        content = folded[-1].get("content")
        if isinstance(content, list):
            folded[-1] = {**folded[-1], "content": [*content, {"type": "text", "text": text}]}
        else:
            folded[-1] = {**folded[-1], "content": f"{content}\n\n{text}"}
    else:
        folded.append({"role": "user", "content": text})
