"""Arguments and results against the schemas of their tools. No I/O: no reference leads elsewhere.

A schema that is itself broken checks nothing: its tool stays usable, and the log says so once.
"""

from __future__ import annotations

import importlib
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, Final, TypeAlias

from server.agent.plain_text import cut

log = logging.getLogger(__name__)

_MAX_PROBLEMS: Final = 3
_MAX_WORDS: Final = 200
_TRUE: Final = {"true": True, "false": False}

_Error: TypeAlias = Any  # jsonschema comes without types
Check: TypeAlias = Callable[[Any], list[_Error]]


def find_problem(tool: str, schema: Mapping[str, Any], value: Any) -> str | None:
    """What is wrong with ``value``, in a few words that don't repeat it; None where it fits."""
    try:
        check = _checker(json.dumps(schema, sort_keys=True))
    except (TypeError, ValueError, RecursionError):
        return None
    if check is None:
        return None
    try:
        errors = check(value)
    except RecursionError:
        return "it is nested too deeply"
    except Exception as error:
        # An unresolvable reference, or a keyword with a value that the library stumbles over.
        log.warning("the schema of %s can't be used: %s", tool, type(error).__name__)
        return None
    return "; ".join(cut(_words(error), _MAX_WORDS) for error in errors) or None


def coerce(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """``arguments`` with what models write as text turned into what the schema asks for, where the text can
    mean nothing else (``"5"`` for an integer, ``"[1]"`` for an array); an optional null is left out."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return dict(arguments)
    required = schema.get("required")
    needed = required if isinstance(required, list) else []
    coerced: dict[str, Any] = {}
    for name, value in arguments.items():
        wanted = properties.get(name)
        kind = wanted.get("type") if isinstance(wanted, dict) else None
        if value is None and isinstance(kind, str) and kind != "null" and name not in needed:
            continue
        coerced[name] = _converted(value, kind) if isinstance(value, str) and isinstance(kind, str) else value
    return coerced


def _converted(text: str, kind: str) -> Any:
    try:
        if kind == "integer":
            return int(text)
        if kind == "number":
            number = float(text)
            return number if abs(number) < float("inf") else text
        if kind == "boolean":
            return _TRUE.get(text.strip().lower(), text)
        if kind in ("array", "object"):
            value = json.loads(text)
            return value if isinstance(value, list if kind == "array" else dict) else text
    except (ValueError, RecursionError):
        pass
    return text


@lru_cache(maxsize=512)
def _checker(text: str) -> Check | None:
    """Checks against the schema ``text``; None where that is no schema.

    ``pattern`` isn't checked: a pattern from outside can make a regular expression run for ever.
    """
    jsonschema: Any = importlib.import_module("jsonschema.validators")
    from referencing import Registry

    schema = json.loads(text)
    kind = jsonschema.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except Exception as error:
        log.warning("a tool's schema is broken and checks nothing: %s", cut(str(error), _MAX_WORDS))
        return None
    harmless = jsonschema.extend(kind, {"pattern": _nothing, "patternProperties": _nothing})
    validator = harmless(schema, registry=Registry())
    return lambda value: list(islice(validator.iter_errors(value), _MAX_PROBLEMS))


def _nothing(*_: object) -> Iterable[_Error]:
    return ()


def _words(error: _Error) -> str:
    where = error.json_path.removeprefix("$").removeprefix(".") or "the whole"
    wanted: Any = error.validator_value
    match error.validator:
        case "type":
            kinds = [wanted] if isinstance(wanted, str) else [str(kind) for kind in wanted]
            return f"{where} must be of type {' or '.join(kinds)}"
        case "required":
            given = error.instance if isinstance(error.instance, dict) else {}
            return f"{where} lacks {', '.join(str(name) for name in wanted if name not in given)}"
        case "enum":
            return f"{where} must be one of {json.dumps(wanted, ensure_ascii=False, default=str)}"
        case "additionalProperties":
            known = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
            return f"{where} has a property that isn't known; known are: {', '.join(known) or 'none'}"
        case "anyOf" | "oneOf" | "allOf" | "not" | "if":
            return f"{where} has none of the allowed forms"
        case _:
            return f"{where} must keep to {error.validator} {json.dumps(wanted, default=str)}"
