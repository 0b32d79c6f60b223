"""Brings an old lab.toml into today's form: comments stay, a backup is left beside it.

Old: ``[agent.llm.NAME] llm_api_key / llm_base_url / llm_model_name``, one model bound to each provider.
New: ``[llm.providers.NAME]`` plus the roles ``chat``, ``tool`` and ``vision``. A role's model comes from
the first of these:

1. the old ``[agent.chat_model]`` / ``tool_model`` / ``vision_model`` (``llm_provider``, ``llm_model_name``),
2. the provider that is called like the role (``[agent.llm.tool]``),
3. the chat role's,
4. the first provider with a model.

What the new form already says stays as it is.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from server.config.edit import Change, KeyPath, changed_text, key_text
from server.config.files import free_name, write_atomically
from server.config.load import decode, encode_like, parse, read
from server.config.toml_text import scan

_OLD: Final = ("agent", "llm")
_NEW: Final = ("llm", "providers")
_MODEL: Final = "llm_model_name"
_PROVIDER_KEYS: Final[Mapping[str, str]] = {"llm_api_key": "api_key", "llm_base_url": "base_url"}
_ROLE_KEYS: Final[Mapping[str, str]] = {
    "llm_provider": "provider",
    _MODEL: "model",
    "support_vision": "supports_vision",
}
_KEY_AND_EQUALS: Final = re.compile(r".*?(\s*=\s*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Migrated:
    """What was done: the names of the providers, and each role's provider and model."""

    text: str
    providers: tuple[str, ...]
    roles: Mapping[str, tuple[str, str]]


def migrate_file(path: Path, shown: str) -> tuple[Migrated, Path] | None:
    """Rewrites the file at ``path``; what was done and the backup, or None when it is in today's form.

    Raises:
        ConfigError: it can't be read or is no TOML.
        EditError: it is written in a way that can't be changed safely.
        OSError: it can't be written. The file is unchanged in each case.
    """
    raw = read(path, shown)
    text = decode(raw, shown)
    parse(text, shown)
    migrated = migrate(text)
    if migrated is None:
        return None
    backup = free_name(path, "bak")
    write_atomically(backup, raw, private=True)
    shutil.copymode(path, backup)
    write_atomically(path, encode_like(raw, migrated.text))
    return migrated, backup


def migrate(text: str) -> Migrated | None:
    """The same for a text alone.

    Raises:
        EditError: it can't be changed safely.
    """
    data = parse(text, "")
    agent = _table(data, "agent")
    if "llm" not in agent:
        return None
    old = {name: table for name, table in _table(agent, "llm").items() if isinstance(table, dict)}
    roles = _roles(agent, old)
    taken = _table(_table(data, "llm"), "providers")
    text = _comment_out_scalars(text)
    models = _table(agent, "models")
    for name in old:
        if name not in taken:
            text = _rename_section(text, (*_OLD, name), (*_NEW, name), _PROVIDER_KEYS)
    for role in roles:
        if role not in models:
            text = _rename_section(text, ("agent", f"{role}_model"), ("agent", "models", role), _ROLE_KEYS)
    renamed = parse(text, "")
    changes = _left_over(renamed)
    changes += _role_changes(roles, models, _table(renamed, "agent"))
    return Migrated(changed_text(text, changes), tuple(old), roles)


def _table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    below = data.get(key)
    return below if isinstance(below, dict) else {}


def _roles(agent: Mapping[str, Any], old: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, str]]:
    models = {name: str(table.get(_MODEL, "")) for name, table in old.items()}
    default = next((name for name, model in models.items() if model), next(iter(old), ""))
    roles: dict[str, tuple[str, str]] = {}
    for role in ("chat", "tool", "vision"):
        told = _table(agent, f"{role}_model")
        if isinstance(told.get("llm_provider"), str):
            name = told["llm_provider"]
            roles[role] = (name, str(told.get(_MODEL) or models.get(name, "")))
        elif role in models:
            roles[role] = (role, models[role])
        elif role != "chat":
            roles[role] = roles["chat"]
        elif default:
            roles[role] = (default, models[default])
        else:
            roles[role] = ("", "")
    return roles


def _comment_out_scalars(text: str) -> str:
    """A value directly below ``[agent.llm]`` has no place in the new form; it stays to be read."""
    layout = scan(text)
    for entry in reversed(layout.entries):
        loose = entry.path[:2] == _OLD and len(entry.path) == 3 and not entry.inline
        if loose and text[entry.value_start] != "{":
            start = text.rfind("\n", 0, entry.start) + 1
            lines = text[start : entry.value_end].replace("\n", "\n# ")
            text = f"{text[:start]}# {lines}{text[entry.value_end :]}"
    return text


def _rename_section(text: str, old: KeyPath, new: KeyPath, keys: Mapping[str, str]) -> str:
    """Turns the heading ``[old]`` and the keys below it into the new ones, where they stand."""
    layout = scan(text)
    index = next((i for i, item in enumerate(layout.sections) if item.path == old), None)
    if index is None:
        return text
    section = layout.sections[index]
    found = [(section.start, section.end, f"[{key_text(new)}]")]
    for entry in layout.entries:
        key = keys.get(str(entry.path[-1]))
        if key and entry.section == index and not entry.inline and len(entry.path) == len(old) + 1:
            between = _KEY_AND_EQUALS.fullmatch(text, entry.start, entry.value_start)
            found.append((entry.start, entry.value_start, key + (between[1] if between else " = ")))
    for start, end, words in reversed(found):
        text = text[:start] + words + text[end:]
    return text


def _left_over(data: Mapping[str, Any]) -> list[Change]:
    """What renaming in place didn't do: models, formats, and providers written as dotted keys or inline."""
    changes: list[Change] = []
    providers = _table(_table(data, "llm"), "providers")
    for name, table in providers.items():
        if isinstance(table, dict) and _MODEL in table:
            changes.append(((*_NEW, name, _MODEL), None))
        if isinstance(table, dict) and table.get("api_format") == "chat_completion":
            changes.append(((*_NEW, name, "api_format"), "chat_completions"))
    for name, table in _table(_table(data, "agent"), "llm").items():
        for key, value in table.items() if isinstance(table, dict) else ():
            new = _PROVIDER_KEYS.get(key, key)
            if key != _MODEL and new not in _table(providers, name):
                value = "chat_completions" if value == "chat_completion" else value
                changes.append(((*_NEW, name, new), value))
    if "llm" in _table(data, "agent"):
        changes.append((_OLD, None))
    return changes


def _role_changes(
    roles: Mapping[str, tuple[str, str]], before: Mapping[str, Any], agent: Mapping[str, Any]
) -> list[Change]:
    """What the roles still lack; ``before`` are those that the new form had already."""
    changes: list[Change] = []
    for role, (provider, model) in roles.items():
        base: KeyPath = ("agent", "models", role)
        old = _table(agent, f"{role}_model")
        if role not in before and provider:
            now = _table(_table(agent, "models"), role)
            wanted = {"provider": provider, "model": model}
            wanted |= {_ROLE_KEYS.get(key, key): value for key, value in old.items() if key != "llm_provider"}
            changes += [((*base, key), value) for key, value in wanted.items() if not now.get(key)]
        if old:
            changes.append((("agent", f"{role}_model"), None))
    return changes
