"""What a conversation is about, as the tool model is told: the anchors that words like "that file" mean.

Pinned as JSON under ``TOOL_ROUTER_STATE``; updated after every user message and every tool result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from server.agent.addresses import paths, urls
from server.agent.dependence import dependence
from tools.contract import Findings

MAX_QUESTION: Final = 300
MAX_RESULTS: Final = 20
_ASKING: Final = ("?", "？", "吗", "呢", "么")


class Result(BaseModel):
    """One numbered result of the last search; ``n`` starts at 1."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    n: int
    title: str = ""
    url: str


class ConversationState(BaseModel):
    """The anchors of a conversation; what isn't known is null or empty.

    Attributes:
        last_url_ok: the address that was read last, or that the user gave since.
        last_file: likewise a file, relative to the workspace where a tool read it.
        last_image_ref: the newest picture of the image store (``img_3``).
        last_search: the results of the last search that found any.
        last_tool: the tool that gave a result last.
        open_question: what the user asked last in words that need no context; follow-ups keep it.
    """

    model_config = ConfigDict(extra="ignore")

    last_url_ok: str | None = None
    last_file: str | None = None
    last_image_ref: str | None = None
    last_search: list[Result] = Field(default_factory=list)
    last_tool: str | None = None
    open_question: str | None = None

    def after_user(self, text: str, pictures: Sequence[str] = ()) -> None:
        """Takes in a message of the user.

        Args:
            pictures: references of the pictures that came with it, in order.
        """
        if named := urls(text):
            self.last_url_ok = named[-1]
        if named := paths(text):
            self.last_file = named[-1]
        if pictures:
            self.last_image_ref = pictures[-1]
        if not dependence(text).dependent:
            self.open_question = " ".join(text.split())[:MAX_QUESTION] if _asks(text) else None

    def after_tool(self, name: str, findings: Findings, pictures: Sequence[str] = ()) -> None:
        """Takes in the result of a tool.

        Args:
            name: ``server__tool``.
            pictures: references of the pictures that it gave, in order.
        """
        self.last_tool = name
        if findings.fetched:
            self.last_url_ok = findings.fetched
        if findings.file:
            self.last_file = findings.file
        if pictures:
            self.last_image_ref = pictures[-1]
        if findings.search:
            self.last_search = [
                Result(n=hit.number, title=hit.title, url=hit.url) for hit in findings.search[:MAX_RESULTS]
            ]

    def pinned(self) -> dict[str, Any]:
        """What the tool model is shown: only what is known."""
        return {name: value for name, value in self.model_dump().items() if value}


def _asks(text: str) -> bool:
    return text.rstrip().endswith(_ASKING) or "?" in text or "？" in text
