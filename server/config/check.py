"""From the data of a lab.toml to a :class:`Config`, or to everything that is wrong with it. No files."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from server.config.problems import OLD_FORM, Finding, finding
from server.config.schema import DEFAULT_PROVIDERS, Config, Tools
from server.config.values import TOOL_NAME

_TYPES: Final = {
    "string_type": "not_text",
    "string_unicode": "control_characters",
    "int_type": "not_integer",
    "int_from_float": "not_integer",
    "float_type": "not_number",
    "finite_number": "not_number",
    "bool_type": "not_bool",
    "tuple_type": "not_list",
    "model_type": "not_table",
    "dict_type": "not_table",
    "missing": "missing",
}
_OLD_KEYS: Final = frozenset({"llm", "chat_model", "tool_model", "vision_model"})
_MOST_NAMES: Final = 20
_BOUNDS: Final = {
    "greater_than_equal": ("too_small", "ge"),
    "greater_than": ("not_above", "gt"),
    "less_than_equal": ("too_large", "le"),
    "string_too_long": ("too_long", "max_length"),
    "too_long": ("too_many", "max_length"),
}


def check(data: Mapping[str, Any]) -> tuple[Config | None, list[Finding]]:
    """The configuration that ``data`` (from :mod:`tomllib`) means, or None and all that is wrong with it."""
    findings: list[Finding] = []
    agent = data.get("agent")
    if isinstance(agent, dict) and "llm" in agent:
        findings.append(finding(("agent", "llm"), OLD_FORM))
        data = {**data, "agent": {key: value for key, value in agent.items() if key not in _OLD_KEYS}}
    config: Config | None = None
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        findings += map(_explain, error.errors(include_url=False))
    said = {(item.path, item.kind) for item in findings}
    findings += [item for item in _cross_checks(data) if (item.path, item.kind) not in said]
    return (None if findings else config), findings


def known_keys(path: tuple[str | int, ...]) -> tuple[str, ...]:
    """The keys that the table at ``path`` may have; empty where they are free or ``path`` is no table."""
    node: Any = Config
    for part in path:
        node = _below(node, part)
        if node is None:
            return ()
    node = _table_type(node)
    if isinstance(node, type) and issubclass(node, BaseModel):
        return tuple(node.model_fields)
    if get_origin(node) is dict:
        return tuple(str(name) for name in get_args(get_args(node)[0]))
    return ()


def _below(node: Any, part: str | int) -> Any:
    node = _table_type(node)
    if isinstance(node, type) and issubclass(node, BaseModel):
        known = node.model_fields.get(str(part))
        return known.annotation if known else None
    return get_args(node)[1] if get_origin(node) is dict else None


def _table_type(node: Any) -> Any:
    while get_origin(node) is Annotated:
        node = get_args(node)[0]
    return node


def nearest(word: str, known: tuple[str, ...]) -> str | None:
    found = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return found[0] if found else None


def unknown_key(path: tuple[str | int, ...], known: tuple[str, ...]) -> Finding:
    """``path``'s last key is none of ``known``."""
    near = nearest(str(path[-1]), known)
    if near:
        return finding(path, "unknown_key", "did_you_mean", nearest=near)
    return finding(path, "unknown_key", "known_here", known=", ".join(known))


def _explain(error: ErrorDetails) -> Finding:
    path, kind, context = error["loc"], error["type"], error.get("ctx", {})
    if path and path[-1] == "[key]":
        path = path[:-1]
        if kind == "literal_error":
            return unknown_key(path, known_keys(path[:-1]))
    if path[:-1] == ("tools",) and not _may_be_tool(str(path[-1])) and kind == "model_type":
        return _unknown_tool(str(path[-1]))
    if kind == "extra_forbidden":
        return unknown_key(path, known_keys(path[:-1]))
    if kind == "literal_error":
        return _not_one_of(path, error["input"], str(context["expected"]))
    if kind.startswith("pet."):
        params = {name: value for name, value in context.items() if name != "kind"}
        return finding(path, str(context["kind"]), **params)
    if kind in _BOUNDS:
        name, bound = _BOUNDS[kind]
        return finding(path, name, bound=_written(context[bound]))
    return finding(path, _TYPES.get(kind, "invalid"))


def _written(bound: float) -> str:
    """A bound as one writes it in TOML: ``65535``, ``1_000_000_000``, ``0.5``."""
    if bound != int(bound):
        return f"{bound:g}"
    return f"{int(bound):_}" if bound >= 1_000_000 else f"{int(bound)}"


def _not_one_of(path: tuple[str | int, ...], given: Any, expected: str) -> Finding:
    choices = tuple(part.strip(" '") for part in expected.replace(" or ", ",").split(","))
    near = nearest(given, choices) if isinstance(given, str) else None
    shown = ", ".join(f'"{choice}"' for choice in choices)
    if near:
        return finding(path, "not_one_of", "did_you_mean_one_of", nearest=near, choices=shown)
    return finding(path, "not_one_of", "one_of", choices=shown)


def _cross_checks(data: Mapping[str, Any]) -> Iterator[Finding]:
    """What no single value shows. Reads the raw data, so that it finds its faults beside any others."""
    yield from _roles(data)
    yield from _providers(_table(data, "llm", "providers"))
    yield from _origins(data)
    yield from _servers(_table(data, "mcp", "servers"))
    yield from _tools(_table(data, "tools"))
    yield from _search(_table(data, "agent", "web"))
    if _table(data, "site").get("enabled") is True and not _table(data, "site").get("origins"):
        yield finding(("site", "origins"), "site_without_origins")


def _table(data: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    for part in path:
        below = data.get(part)
        if not isinstance(below, dict):
            return {}
        data = below
    return data


def _roles(data: Mapping[str, Any]) -> Iterator[Finding]:
    known = tuple(dict.fromkeys((*_table(data, "llm", "providers"), *DEFAULT_PROVIDERS)))
    for base in (("agent", "models"), ("site", "models")):
        for role in known_keys(base):
            provider = _table(data, *base, role).get("provider")
            if isinstance(provider, str) and provider and provider not in known:
                near = nearest(provider, known)
                path = (*base, role, "provider")
                if near:
                    yield finding(
                        path, "no_such_provider", "did_you_mean", provider=provider[:64], nearest=near
                    )
                else:
                    shown = ", ".join(known[:_MOST_NAMES])
                    yield finding(path, "no_such_provider", provider=provider[:64], known=shown)


def _providers(providers: Mapping[str, Any]) -> Iterator[Finding]:
    for name, table in providers.items():
        if not isinstance(table, dict):
            continue
        merged = {**DEFAULT_PROVIDERS.get(name, {}), **table}
        if not merged.get("base_url") and "gguf" not in merged:
            yield finding(("llm", "providers", name), "no_base_url")
        elif merged.get("base_url") and "gguf" in merged:
            yield finding(("llm", "providers", name, "gguf"), "url_and_gguf")


def _origins(data: Mapping[str, Any]) -> Iterator[Finding]:
    allowed, visitors = _table(data, "server").get("allowed_origins"), _table(data, "site").get("origins")
    if isinstance(allowed, list) and isinstance(visitors, list):
        owners = {origin for origin in allowed if isinstance(origin, str)}
        for index, origin in enumerate(visitors):
            if isinstance(origin, str) and origin in owners:
                yield finding(("site", "origins", index), "origin_twice", origin=origin[:300])


def _servers(servers: Mapping[str, Any]) -> Iterator[Finding]:
    for name, table in servers.items():
        if not isinstance(table, dict):
            continue
        path = ("mcp", "servers", name)
        started, reached = bool(table.get("command")), bool(table.get("url"))
        if started == reached:
            yield finding(path, "command_or_url")
        elif reached:
            for key in ("args", "env", "cwd"):
                if key in table:
                    yield finding((*path, key), "only_with_command")


def _tools(tools: Mapping[str, Any]) -> Iterator[Finding]:
    for name in tools:
        if not _may_be_tool(name):
            yield _unknown_tool(name)


def _may_be_tool(name: str) -> bool:
    return name in Tools.model_fields or bool("__" in name.strip("_") and TOOL_NAME.fullmatch(name))


def _unknown_tool(name: str) -> Finding:
    near = nearest(name, tuple(Tools.model_fields))
    if near:
        return finding(("tools", name), "unknown_key", "did_you_mean", nearest=near)
    return finding(("tools", name), "unknown_key", "known_tools", known=", ".join(Tools.model_fields))


def _search(web: Mapping[str, Any]) -> Iterator[Finding]:
    provider = web.get("search_provider")
    needed = {"searxng": "url", "tavily": "api_key", "brave": "api_key"}.get(str(provider))
    if needed and not _table(web, str(provider)).get(needed):
        yield finding(
            ("agent", "web", str(provider), needed), "search_needs", provider=str(provider), needed=needed
        )
