"""What a tool is, whoever provides it: in-process, or a server that speaks MCP.

A tool takes arguments that fit its JSON schema and gives parts: text, structured data, pictures. It knows
no model and no session. Whatever goes wrong inside is a :class:`ToolFailure`, never another exception;
cancelling the call cancels its work.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias

JsonSchema: TypeAlias = Mapping[str, Any]
Capability: TypeAlias = Literal["screenshot", "checks"]

TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
SEPARATOR: Final = "__"
DEFAULT_HINT: Final = (
    "Call it once more with the same arguments. If it fails again, report that briefly and ask for what is "
    "missing."
)


@dataclass(frozen=True, slots=True)
class TextPart:
    text: str


@dataclass(frozen=True, slots=True)
class DataPart:
    """Structured data: whatever JSON can hold."""

    value: Any


@dataclass(frozen=True, slots=True)
class PicturePart:
    """A picture as bytes; ``mime`` is ``image/png``, ``image/jpeg``, ``image/webp`` or ``image/gif``.

    ``title`` says what it shows, for the text that stands in its place.
    """

    data: bytes = field(repr=False)
    mime: str
    title: str = ""


Part: TypeAlias = TextPart | DataPart | PicturePart


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One numbered result of a search; numbers start at 1."""

    number: int
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Findings:
    """What a call gives to later ones: addresses that may now be fetched, and anchors for references.

    Attributes:
        urls: addresses that a search or a fetched page's own links gave.
        fetched: the address that was read with success.
        file: the path, relative to the workspace, that was read with success.
        search: a search's numbered results.
    """

    urls: Sequence[str] = ()
    fetched: str | None = None
    file: str | None = None
    search: Sequence[SearchHit] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave."""

    parts: Sequence[Part]
    findings: Findings = field(default_factory=Findings)

    @classmethod
    def text(cls, text: str, **findings: Any) -> ToolResult:
        return cls((TextPart(text),), Findings(**findings))


class ToolFailure(Exception):
    """A call that failed. The message is short and written for the tool model: no stack, no absolute
    path, no key.

    Args:
        denied: whether its owner didn't allow it, now or ever.
    """

    def __init__(self, message: str, *, denied: bool = False) -> None:
        super().__init__(message)
        self.denied = denied


class CallContext(Protocol):
    """What a running call may use of the turn that it belongs to."""

    @property
    def turn(self) -> int: ...

    @property
    def known_urls(self) -> frozenset[str]:
        """Addresses that the user, a search or a fetched page's own links gave, normalised
        (:func:`tools.web.address.normalise`): no other may be fetched."""

    def progress(
        self, done: float | None = None, total: float | None = None, note: str | None = None
    ) -> None:
        """Tells the user that long work goes on."""

    async def consent(self, capability: Capability, detail: str) -> bool:
        """Asks the owner where lab.toml says so; False is a no, and so is no answer in 30 s."""

    def picture(self, ref: str) -> PicturePart | None:
        """A stored picture at full resolution, by its reference (``img_3``)."""


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """How a tool is described to a model and treated by the loop.

    Attributes:
        name: ``server__tool``.
        input_schema: of the arguments, an object.
        output_schema: of the structured part, or None.
        hint: what the tool model is told when a call fails (behaviour.md, "Tool loop").
        timeout_s, max_result_chars: bounds of its own; None means those of ``[agent.tool_loop]``.
    """

    name: str
    description: str
    input_schema: JsonSchema
    output_schema: JsonSchema | None = None
    hint: str = DEFAULT_HINT
    timeout_s: float | None = None
    max_result_chars: int | None = None


class Tool(Protocol):
    """A tool of the registry."""

    @property
    def info(self) -> ToolInfo: ...

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Runs it. ``arguments`` have been validated against ``info.input_schema``.

        Raises:
            ToolFailure: it failed, and why.
        """
