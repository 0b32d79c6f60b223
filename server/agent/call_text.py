"""Calls that a model wrote as text because it knows no better form. No I/O.

Recovered only where the whole message is one call, or a list of calls, of known tools: anything else is text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from server.agent.loose_json import Malformed, read_arguments, read_json, unfenced

_MAX_CHARS: Final = 100_000
_WRAPPER: Final = re.compile(
    r"\s*<(?P<tag>tool_call|function_call|tool|call|tools)>\s*(?P<body>.*?)\s*</(?P=tag)>\s*", re.DOTALL
)
_PREFIX: Final = re.compile(r"\A\s*(?:\[TOOL_CALLS\]|<\|python_tag\|>|<\|tool_call\|>)\s*")
_FUNCTION: Final = re.compile(
    r"\A\s*<(?:function|invoke)(?:=|\s+name=[\"']?)(?P<name>[\w.-]+)[\"']?>(?P<body>.*)</(?:function|invoke)>\s*\Z",
    re.DOTALL,
)
_PARAMETER: Final = re.compile(
    r"\s*<parameter(?:=|\s+name=[\"']?)(?P<name>[\w.-]+)[\"']?>\n?(?P<value>.*?)\n?</parameter>\s*", re.DOTALL
)
_NAME_KEYS: Final = ("name", "tool", "tool_name", "function")
_ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "input", "tool_input")
_OTHER_KEYS: Final = frozenset({"type", "id", "call_id", "index"})


@dataclass(frozen=True, slots=True)
class WrittenCall:
    name: str
    arguments: dict[str, Any]


def calls_in_text(text: str, known: Collection[str]) -> list[WrittenCall]:
    """The calls that ``text`` consists of; none where it is anything else."""
    if not text or len(text) > _MAX_CHARS or not _could_be(text):
        return []
    try:
        calls = _wrapped(text) or _bare(text)
    except Malformed:
        return []
    return calls if all(call.name in known for call in calls) else []


def _could_be(text: str) -> bool:
    start = text.lstrip()[:1]
    return start in ("{", "[", "<", "`")


def _wrapped(text: str) -> list[WrittenCall]:
    """Calls in tags, one after another, with nothing between them."""
    calls: list[WrittenCall] = []
    at = 0
    while match := _WRAPPER.match(text, at):
        calls += _bare(match["body"])
        at = match.end()
    if calls and at < len(text):
        raise Malformed("text beside the calls")
    return calls


def _bare(text: str) -> list[WrittenCall]:
    if (function := _FUNCTION.match(text)) is not None:
        return [WrittenCall(function["name"], _parameters(function["body"]))]
    value = read_json(_PREFIX.sub("", unfenced(text)))
    if isinstance(value, dict) and isinstance(value.get("tool_calls"), list) and len(value) == 1:
        value = value["tool_calls"]
    return [_call(item) for item in (value if isinstance(value, list) else [value])]


def _call(value: Any) -> WrittenCall:
    """One call as a JSON object with its name, its arguments and nothing else that matters."""
    if not isinstance(value, dict):
        raise Malformed("no call")
    if isinstance(inner := value.get("function"), dict) and set(value) - {"function"} <= _OTHER_KEYS:
        value = inner
    names = [key for key in _NAME_KEYS if isinstance(value.get(key), str)]
    arguments = [key for key in _ARGUMENT_KEYS if key in value]
    rest = set(value) - set(names) - set(arguments) - _OTHER_KEYS
    if len(names) != 1 or len(arguments) > 1 or rest:
        raise Malformed("no call")
    return WrittenCall(value[names[0]], read_arguments(value[arguments[0]]) if arguments else {})


def _parameters(body: str) -> dict[str, Any]:
    """``<parameter=name>value</parameter>``, one after another; every value is text."""
    arguments: dict[str, Any] = {}
    at = 0
    while match := _PARAMETER.match(body, at):
        arguments[match["name"]] = html.unescape(match["value"])
        at = match.end()
    if body[at:].strip():
        raise Malformed("no parameters")
    return arguments
