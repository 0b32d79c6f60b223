"""Why a server isn't there, for its owner (in their language) and for the tool model (in English)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from server.messages import render
from server.protocol import Locale

MAX_SAID: Final = 2000


@dataclass(frozen=True, slots=True)
class Reason:
    """What happened, and perhaps what the server said.

    Attributes:
        text: a key of the catalogue, with its ``params``.
        said: the server's own last words: masked, without folders, at most :data:`MAX_SAID` characters.
    """

    text: str
    params: Mapping[str, str | int | float] = field(default_factory=dict)
    said: str = ""

    def saying(self, said: str) -> Reason:
        return replace(self, said=said[-MAX_SAID:])

    def render(self, locale: Locale) -> str:
        message = render(self.text, locale, **self.params)
        return f"{message}\n{render('mcp.said', locale)}\n{self.said}" if self.said else message

    def for_model(self) -> str:
        """One short paragraph: of what the server said only its last line."""
        message = render(self.text, "en", **self.params)
        last = self.said.rsplit("\n", 1)[-1][:300]
        return f"{message} It last said: {last}" if last else message


class Down(Exception):
    """The server can't be reached or has gone; ``reason`` says why."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.text)
        self.reason = reason
