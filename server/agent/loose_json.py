"""JSON as models write it. Repaired only where one meaning is certain. No I/O."""

from __future__ import annotations

import ast
import json
import re
from typing import Any, Final, NoReturn

from server.agent.plain_text import without_surrogates

_MAX_CHARS: Final = 400_000
_FENCE: Final = re.compile(r"\A\s*```[\w-]*[ \t]*\n?(.*?)\n?[ \t]*```\s*\Z", re.DOTALL)
_PYTHON: Final = re.compile(r"\A\s*\{.*\}\s*\Z", re.DOTALL)
_STRING_OR_COMMA: Final = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)


class Malformed(ValueError):
    """Not the JSON that was needed; the message says why, in words for a model."""


def read_arguments(written: object) -> dict[str, Any]:
    """The arguments of a call; "" and null are {}.

    Raises:
        Malformed: they are no JSON object, and what was meant isn't certain.
    """
    if isinstance(written, dict):
        return written
    if written is None or (isinstance(written, str) and not written.strip()):
        return {}
    if not isinstance(written, str):
        raise Malformed(f"they must be a JSON object, not {_kind(written)}")
    value = read_json(written)
    if isinstance(value, str):
        value = read_json(value) if value.strip() else {}
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Malformed(f"they must be a JSON object, not {_kind(value)}")
    return value


def read_json(text: str) -> Any:
    """``text`` as JSON: strict, or with a code fence around it, with commas too many, with an object said
    twice, or as Python writes it.

    Raises:
        Malformed: it is none of these.
    """
    if len(text) > _MAX_CHARS:
        raise Malformed("they are too long")
    text = unfenced(text).strip()
    try:
        return _loads(text)
    except RecursionError:
        raise Malformed("they are nested too deeply") from None
    except ValueError as error:
        reason = str(error)
    for repaired in (_without_needless_commas, _said_twice, _from_python):
        try:
            return repaired(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
    raise Malformed(f"they are no valid JSON ({reason})")


def unfenced(text: str) -> str:
    """What stands in the one code fence that ``text`` is, or ``text`` itself."""
    fence = _FENCE.match(text)
    return fence[1] if fence is not None and "```" not in fence[1] else text


def strict_json(text: str) -> Any:
    """``text`` as JSON that every reader takes.

    Raises:
        ValueError: it is none, or holds NaN, control characters or halves of surrogate pairs.
        RecursionError: it is nested too deeply.
    """
    value = json.loads(text, parse_constant=_no_constant)
    if "\\u" in text:
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _loads(text: str) -> Any:
    value = json.loads(text, strict=False, parse_constant=_no_constant)
    return without_surrogates(value) if "\\u" in text else value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _without_needless_commas(text: str) -> Any:
    return _loads(_STRING_OR_COMMA.sub(lambda match: "" if match[0] == "," else match[0], text))


def _said_twice(text: str) -> Any:
    """``{}{"a": 1}`` and ``{"a": 1}{"a": 1}``, which broken streams leave behind."""
    decoder = json.JSONDecoder(strict=False, parse_constant=_no_constant)
    first, end = decoder.raw_decode(text)
    rest = _loads(text[end:])
    if isinstance(first, dict) and isinstance(rest, dict) and (not first or first == rest):
        return rest
    raise ValueError("two different values")


def _from_python(text: str) -> Any:
    if not _PYTHON.match(text):
        raise ValueError("no dict")
    value = ast.literal_eval(text)
    return _loads(json.dumps(value, allow_nan=False))


def _kind(value: object) -> str:
    kinds = {str: "a string", bool: "true or false", list: "a list", int: "a number", float: "a number"}
    return kinds.get(type(value), "something else")
