"""Tools as providers take them: copies of their schemas, cleaned as far as a provider needs it. No I/O.

Every copy has its ``$ref`` resolved (within the schema, never from elsewhere) and is an object with
properties. A *plain* one also lacks the keywords that some providers refuse.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

_ALWAYS_GONE: Final = frozenset({"$schema", "$id", "$defs", "definitions", "$comment", "$anchor"})
_PLAIN: Final = frozenset(
    {"type", "description", "enum", "properties", "required", "items", "anyOf", "minimum", "maximum"}
)
_VALUES: Final = frozenset({"enum", "const", "default", "examples", "required"})
_MOST_NODES: Final = 5000


def tool_definition(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A tool in the form of chat completions."""
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": schema},
    }


def tidy_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    return _with_schema(tool, plain=False)


def plain_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    return _with_schema(tool, plain=True)


def clean_schema(schema: Mapping[str, Any], *, plain: bool) -> dict[str, Any]:
    """A copy of ``schema`` that stands alone; what can't be resolved or nests for ever takes anything."""
    try:
        return _cleaned(json.dumps(schema), plain)
    except (TypeError, ValueError, RecursionError):
        return {"type": "object", "properties": {}}


def _with_schema(tool: Mapping[str, Any], *, plain: bool) -> dict[str, Any]:
    function = tool["function"]
    schema = clean_schema(function.get("parameters") or {}, plain=plain)
    return {**tool, "function": {**function, "parameters": schema}}


@lru_cache(maxsize=512)
def _cleaned(text: str, plain: bool) -> dict[str, Any]:
    schema = _Copier(json.loads(text), plain).copy()
    if schema.get("type") != "object":
        schema = {**schema, "type": "object"} if "properties" in schema else {"type": "object"}
    schema.setdefault("properties", {})
    return schema


class _Copier:
    """Copies one schema. A reference to what is just being copied, and whatever lies behind the bounds,
    becomes a schema that takes anything, so that no schema unfolds without end."""

    def __init__(self, root: Any, plain: bool) -> None:
        self._root = root
        self._plain = plain
        self._left = _MOST_NODES

    def copy(self) -> dict[str, Any]:
        copy = self._schema(self._root, frozenset())
        return copy if isinstance(copy, dict) else {}

    def _schema(self, node: Any, within: frozenset[str]) -> Any:
        self._left -= 1
        if isinstance(node, list):
            return [self._schema(item, within) for item in node]
        if not isinstance(node, dict):
            return node
        if self._left < 0:
            return {}
        if self._plain:
            node = _plainer(node)
        if isinstance(ref := node.get("$ref"), str):
            target = _resolve(ref, self._root)
            if ref in within or not isinstance(target, dict):
                return {}
            beside = {name: value for name, value in node.items() if name != "$ref"}
            return self._schema({**target, **beside}, within | {ref})
        copy: dict[str, Any] = {}
        for name, value in node.items():
            if name in _ALWAYS_GONE or (self._plain and name not in _PLAIN):
                continue
            if name == "properties" and isinstance(value, dict):
                copy[name] = {key: self._schema(item, within) for key, item in value.items()}
            elif name in _VALUES:
                copy[name] = value
            else:
                copy[name] = self._schema(value, within)
        return copy


def _plainer(node: dict[str, Any]) -> dict[str, Any]:
    """The same in words that every provider knows: ``const``, ``oneOf`` and lists of types said otherwise."""
    plainer = dict(node)
    if "const" in plainer:
        plainer["enum"] = [plainer.pop("const")]
    if "oneOf" in plainer and "anyOf" not in plainer:
        plainer["anyOf"] = plainer.pop("oneOf")
    if isinstance(kinds := plainer.get("type"), list):
        plainer["type"] = next((kind for kind in kinds if kind != "null"), "string")
    choices = plainer.get("anyOf")
    if isinstance(choices, list):
        real = [choice for choice in choices if isinstance(choice, dict) and choice.get("type") != "null"]
        if len(real) == 1:
            del plainer["anyOf"]
            return _plainer({**real[0], **plainer})
    return plainer


def _resolve(ref: str, root: Any) -> Any:
    """What a pointer within the schema (``#/$defs/Place``) points to; None for any other."""
    if not ref.startswith("#"):
        return None
    node = root
    for step in ref[1:].split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and step in node:
            node = node[step]
        elif isinstance(node, list) and step.isdigit() and int(step) < len(node):
            node = node[int(step)]
        else:
            return None
    return node
