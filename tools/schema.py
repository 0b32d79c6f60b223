"""JSON schemas as models are shown them."""

from __future__ import annotations

from typing import Any, Final

from tools.contract import JsonSchema

DEEPEST: Final = 64
_NAMED_SCHEMAS: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_VALUES: Final = ("default", "const", "enum", "examples")


def without_titles(schema: JsonSchema) -> dict[str, Any]:
    """``schema`` without the titles that generators give to everything; a property called title stays.

    Raises:
        ValueError: it is nested more than :data:`DEEPEST` deep.
    """
    cleaned: dict[str, Any] = _schema(schema, 0)
    return cleaned


def _schema(value: Any, depth: int) -> Any:
    if depth > DEEPEST:
        raise ValueError("nested too deep")
    if isinstance(value, list):
        return [_schema(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    cleaned = {}
    for key, below in value.items():
        if key == "title" and isinstance(below, str):
            continue
        if key in _VALUES:
            cleaned[key] = below
        elif key in _NAMED_SCHEMAS and isinstance(below, dict):
            cleaned[key] = {name: _schema(named, depth + 1) for name, named in below.items()}
        else:
            cleaned[key] = _schema(below, depth + 1)
    return cleaned
