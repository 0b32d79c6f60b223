"""From a model's answer to calls. No I/O.

Calls are found by their presence, whatever the finish reason says. What was meant is repaired where that is
certain; otherwise the call carries its ``problem``, and is answered with it. The message that goes back to
the provider stays as it was, unknown fields included, except where it would be refused: then it is mended.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from server.agent.call_text import calls_in_text
from server.agent.loose_json import Malformed, read_arguments, strict_json
from server.agent.plain_text import speakable
from server.expression.reasoning import ReasoningSplitter, Reply
from server.models.completion import Completion
from tools.contract import SEPARATOR, TOOL_NAME

_UNNAMED: Final = "unnamed_tool"
_MAX_SENT: Final = 500
_MAX_ID: Final = 200
_MAX_NAME: Final = 100


@dataclass(frozen=True, slots=True)
class Call:
    """One call as it is run.

    Attributes:
        call_id: our own, unique in the turn.
        wire_id: the id under which the provider gets its result: its own one where that is usable.
        arguments: empty where they couldn't be read.
        sent: the arguments as the model wrote them, once, capped.
        problem: why it can't be run; None where it can.
    """

    call_id: str
    wire_id: str
    name: str
    arguments: Mapping[str, Any]
    sent: str
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer, read.

    Attributes:
        message: what goes into the history.
        text: what it said beside its calls, without thinking; never shown.
    """

    message: dict[str, Any]
    text: str
    calls: tuple[Call, ...]


class CallReader:
    """Reads the answers of one turn; ids are unique across all of them."""

    def __init__(self, known: Collection[str]) -> None:
        self._known = known
        self._numbers = itertools.count(1)
        self._wire_ids: set[str] = set()

    def read(self, completion: Completion) -> Answer:
        """The calls of an answer; a call that was written as text counts where it is the whole message."""
        text = speakable(without_thinking(completion.text))
        raw_calls = completion.calls
        if not raw_calls and (found := calls_in_text(text, self._known)):
            raw_calls = [
                {"id": "", "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in found
            ]
            text = ""
        cut = completion.finish_reason == "length"
        pairs = [self._call(raw, cut) for raw in raw_calls]
        message = {
            name: value
            for name, value in completion.message.items()
            if name not in ("tool_calls", "function_call") and (value or name in ("role", "content"))
        }
        message["role"] = "assistant"
        message["content"] = text
        if pairs:
            message["tool_calls"] = [raw for _, raw in pairs]
        return Answer(message, text, tuple(call for call, _ in pairs))

    def made(self, name: str, arguments: Mapping[str, Any]) -> Call:
        """A call that came in no provider's form."""
        call_id = f"c{next(self._numbers):08d}"
        sent = _capped(json.dumps(arguments, ensure_ascii=False, default=str))
        return Call(call_id, call_id, name, arguments, sent)

    def _call(self, raw: dict[str, Any], cut: bool) -> tuple[Call, dict[str, Any]]:
        """A call, and the provider's own one as it goes back."""
        function = raw.get("function")
        function = function if isinstance(function, dict) else {}
        given = function.get("name")
        name = known_name(given if isinstance(given, str) else "", self._known)
        written = function.get("arguments")
        problem = None
        arguments: dict[str, Any] = {}
        try:
            arguments = read_arguments(written)
        except Malformed as error:
            problem = f"the arguments can't be read: {error}"
        if cut:
            problem = "your reply was cut by its length limit: none of its calls was run; call less at once"
        elif not name:
            problem = f"a call needs a name; the tools are: {', '.join(sorted(self._known))}"
        call_id = f"c{next(self._numbers):08d}"
        wire_id = self._wire_id(raw.get("id"), call_id)
        sent = written if isinstance(written, str) else json.dumps(written, ensure_ascii=False, default=str)
        call = Call(call_id, wire_id, name[:_MAX_NAME] or _UNNAMED, arguments, _capped(sent), problem)
        return call, _sendable(raw, function, call)

    def _wire_id(self, given: object, own: str) -> str:
        """The provider's id where it is one and new; else our own."""
        usable = isinstance(given, str) and 0 < len(given) <= _MAX_ID and given not in self._wire_ids
        wire_id = given if usable and isinstance(given, str) else own
        self._wire_ids.add(wire_id)
        return wire_id


def known_name(given: str, known: Collection[str]) -> str:
    """The tool that ``given`` means: itself, or the only one that differs in nothing but case, a
    ``functions.`` before it, or its server's name; "" for no name."""
    name = given.strip()
    if name in known or not name:
        return name
    bare = re.sub(r"^(?:functions?|tools?)[.:/]", "", name)
    for means in (
        lambda tool: tool == bare,
        lambda tool: tool.lower() == bare.lower(),
        lambda tool: tool.partition(SEPARATOR)[2].lower() == bare.lower(),
        lambda tool: re.sub(r"[^a-z0-9]+", "", tool.lower()) == re.sub(r"[^a-z0-9]+", "", bare.lower()),
    ):
        found = [tool for tool in known if means(tool)]
        if len(found) == 1:
            return found[0]
    return name


def without_thinking(text: str) -> str:
    """The reply in ``text``, without ``<think>`` blocks."""
    if "<" not in text:
        return text
    splitter = ReasoningSplitter()
    return "".join(_replies(splitter, text)).strip()


def _replies(splitter: ReasoningSplitter, text: str) -> Iterator[str]:
    for piece in (*splitter.feed(text), *splitter.close()):
        if isinstance(piece, Reply):
            yield piece.text


def _sendable(raw: dict[str, Any], function: dict[str, Any], call: Call) -> dict[str, Any]:
    """The provider's call as it goes back: untouched where it can be, else with what was unusable mended."""
    name = call.name if TOOL_NAME.fullmatch(call.name) else _valid_name(call.name)
    written = function.get("arguments")
    arguments = written if _is_object_text(written) else json.dumps(call.arguments, ensure_ascii=False)
    mended = {"id": call.wire_id, "type": "function"}
    mended_function = {"name": name, "arguments": arguments}
    if all(raw.get(key) == value for key, value in mended.items()) and all(
        function.get(key) == value for key, value in mended_function.items()
    ):
        return raw
    return {**raw, **mended, "function": {**function, **mended_function}}


def _valid_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or _UNNAMED


def _is_object_text(written: object) -> bool:
    if not isinstance(written, str):
        return False
    try:
        return isinstance(strict_json(written), dict)
    except (ValueError, RecursionError):
        return False


def _capped(text: str) -> str:
    text = speakable(text)
    return text if len(text) <= _MAX_SENT else f"{text[:_MAX_SENT]}… ({len(text)} characters)"
