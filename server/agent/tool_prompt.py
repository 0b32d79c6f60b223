"""What the tool model is sent, in the order that behaviour.md gives. It never sees the persona. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from server.agent.persona import prompt_file
from server.agent.plain_text import fit_for_model
from server.agent.prompt import Exchange, alternate

STATE: Final = "TOOL_ROUTER_STATE"
_MAX_STATE: Final = 6000
_MAX_MESSAGE: Final = 4000


def load_tool_router(text: str | None = None) -> str:
    """The tool model's prompt: the owner's own one, or what ships."""
    return text.strip() if text is not None else prompt_file("tool_router.md")


def tool_messages(
    words: str,
    *,
    router: str,
    state: Mapping[str, Any],
    recent: Sequence[Exchange] = (),
    resolved_refs: Sequence[Mapping[str, Any]] = (),
    pictures: Sequence[str] = (),
    notes: str = "",
) -> list[dict[str, Any]]:
    """The messages before the first step.

    Args:
        words: what the user wrote.
        state: what is pinned (:meth:`server.agent.state.ConversationState.pinned`).
        recent: the window of the chat, only where the message depends on it.
        resolved_refs: what the message's references mean, ``[{"kind": …, "value": …}]``.
        pictures: references of the pictures that came with the message.
        notes: what came along with the message and may matter (a page's title and address…), quoted.
    """
    said = [words]
    if pictures:
        said.append(f"pictures that came with it: {', '.join(pictures)}")
    if resolved_refs:
        said.append(f"resolved_refs: {_json(list(resolved_refs))}")
    if notes:
        said.append(notes)
    return [
        {"role": "system", "content": router},
        {"role": "system", "content": f"{STATE}: {fit_for_model(_json(state), _MAX_STATE)}"},
        *(
            {"role": exchange.role, "content": fit_for_model(exchange.text, _MAX_MESSAGE)}
            for exchange in alternate(recent)
        ),
        {"role": "user", "content": fit_for_model("\n\n".join(said), 4 * _MAX_MESSAGE)},
    ]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
