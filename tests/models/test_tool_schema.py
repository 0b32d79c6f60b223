"""Schemas of tools, cleaned for providers."""

from __future__ import annotations

from typing import Any

from server.models.tool_schema import clean_schema


def clean(schema: dict[str, Any], *, plain: bool = False) -> dict[str, Any]:
    return clean_schema(schema, plain=plain)


def test_a_schema_without_anything_is_an_object_without_properties() -> None:
    assert clean({}) == {"type": "object", "properties": {}}


def test_references_are_put_in_place_and_their_neighbours_win() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A", "description": "mine"}},
        "$defs": {"A": {"type": "string", "description": "theirs"}},
    }
    assert clean(schema)["properties"]["a"] == {"type": "string", "description": "mine"}


def test_a_reference_to_itself_or_elsewhere_takes_anything() -> None:
    schema = {
        "type": "object",
        "properties": {"next": {"$ref": "#"}, "far": {"$ref": "https://example.org/schema.json"}},
    }
    assert clean(schema)["properties"] == {"next": {}, "far": {}} | {
        "next": {"type": "object", "properties": {"next": {}, "far": {}}}
    }


def test_references_that_double_at_each_level_stay_small() -> None:
    levels = {
        f"L{n}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/L{n + 1}"} for k in "ab"}}
        for n in range(40)
    }
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/L0"}}, "$defs": levels}
    assert len(str(clean(schema))) < 1_000_000


def test_a_property_may_be_called_like_a_keyword() -> None:
    schema = {"type": "object", "properties": {"$schema": {"type": "string"}, "format": {"type": "string"}}}
    assert set(clean(schema, plain=True)["properties"]) == {"$schema", "format"}


def test_plain_words_say_the_same_as_far_as_they_can() -> None:
    schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "kind": {"const": "a", "title": "Kind"},
            "size": {"anyOf": [{"type": "integer", "default": 1}, {"type": "null"}]},
            "name": {"type": ["string", "null"], "format": "uri"},
            "some": {"anyOf": [{"$ref": "#/$defs/S"}, {"type": "null"}]},
        },
        "$defs": {"S": {"type": "string"}},
    }
    assert clean(schema, plain=True) == {
        "type": "object",
        "properties": {
            "kind": {"enum": ["a"]},
            "size": {"type": "integer"},
            "name": {"type": "string"},
            "some": {"type": "string"},
        },
    }
