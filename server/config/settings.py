"""What a client may change, and what a change means for lab.toml, keys.toml and the switches. No files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from server.config.edit import Change, EditError, KeyPath, flatten
from server.config.keys import StoredKey, address_of
from server.config.problems import Problem, SettingsRefused, dotted
from server.config.schema import DEFAULT_PROVIDERS, Config
from server.config.switches import ASKING, CAPABILITIES, Level, at_most, owner_level
from server.config.values import ENV_PREFIX, STORED
from server.errors import PetError
from server.protocol import ErrorCode

_OPEN_TABLES: Final = ("chat", "memory", "avatar", "pet_mode")
_PROVIDER_KEYS: Final = ("base_url", "api_key")
_MOST_CHANGES: Final = 500


@dataclass(slots=True)
class Plan:
    """What an update does, all of it or nothing."""

    edits: list[Change] = field(default_factory=list)
    keys: dict[str, StoredKey | None] = field(default_factory=dict)
    switches: dict[str, Level] = field(default_factory=dict)


def plan_update(config: Config, changes: Mapping[str, Any], shown: str) -> Plan:
    """Sorts a client's ``changes`` (dotted key to value; None removes it) by where they go.

    Raises:
        PetError: forbidden or bad_request, naming the key.
    """
    plan = Plan()
    providers: dict[str, dict[str, Any]] = {}
    for path, value in _leaves(changes, shown):
        key = dotted(path)
        if key in CAPABILITIES:
            plan.switches[key] = _switch(config, key, value, shown)
        elif path[:2] == ("llm", "providers") and len(path) == 4 and path[3] in _PROVIDER_KEYS:
            providers.setdefault(path[2], {})[path[3]] = value
        elif _is_open(path):
            plan.edits.append((path, value))
        else:
            raise _forbidden(key)
    for name, given in providers.items():
        _plan_provider(plan, config, name, given, shown)
    return plan


def is_client_key(path: KeyPath) -> bool:
    """Whether a client may change the key at ``path``, at least for the less."""
    provider = path[:2] == ("llm", "providers") and len(path) == 4 and path[3] in _PROVIDER_KEYS
    return dotted(path) in CAPABILITIES or provider or _is_open(path)


def _is_open(path: KeyPath) -> bool:
    return len(path) > 1 and (path[0] in _OPEN_TABLES or (path[:2] == ("agent", "models") and len(path) > 2))


def _leaves(changes: Mapping[str, Any], shown: str) -> Iterator[Change]:
    count = 0
    for key, value in changes.items():
        path = tuple(key.split("."))
        if "" in path:
            raise refused("bad_request", shown, path, "bad_key")
        try:
            leaves = flatten(path, value)
        except EditError:
            raise refused("bad_request", shown, path[:4], "bad_key") from None
        count += len(leaves)
        if count > _MOST_CHANGES:
            raise refused("bad_request", shown, path, "too_many", bound=_MOST_CHANGES)
        yield from leaves


def _switch(config: Config, key: str, value: Any, shown: str) -> Level:
    """None means as far as lab.toml allows."""
    asks = key in ASKING
    if value is None:
        return True
    if not isinstance(value, bool) and not (asks and value == "ask"):
        raise refused("bad_request", shown, tuple(key.split(".")), "not_ask" if asks else "not_bool")
    level: Level = "ask" if value == "ask" else bool(value)
    owner = owner_level(config, key)
    if not at_most(level, owner):
        raise PetError("forbidden", "config.owner_switched_off", setting=key)
    return True if level == owner else level


def _plan_provider(plan: Plan, config: Config, name: str, given: dict[str, Any], shown: str) -> None:
    """A key never travels to an address that it wasn't entered for: a new address drops the old key."""
    base = ("llm", "providers", name)
    old = config.llm.providers.get(name)
    default = DEFAULT_PROVIDERS.get(name, {})
    url = old.base_url if old else ""
    if "base_url" in given:
        new_url = given["base_url"]
        plan.edits.append(((*base, "base_url"), new_url))
        url = default.get("base_url", "") if new_url is None else str(new_url)
    moved = old is None or address_of(url) != address_of(old.base_url)
    if given.get("api_key", "") not in ("", None):
        plan.keys[name] = StoredKey(address_of(url), _entered(given["api_key"], (*base, "api_key"), shown))
        plan.edits.append(((*base, "api_key"), STORED))
    elif "api_key" in given or moved:
        plan.keys[name] = None
        if old is not None and old.api_key:
            plan.edits.append(((*base, "api_key"), ""))


def _entered(value: Any, path: KeyPath, shown: str) -> str:
    """A key as it was typed or pasted."""
    if not isinstance(value, str):
        raise refused("bad_request", shown, path, "not_text")
    key = value.strip()
    if key.lower().startswith(ENV_PREFIX):
        raise _forbidden(dotted(path))
    if (
        not key
        or key == STORED
        or not key.isascii()
        or not key.isprintable()
        or " " in key
        or len(key) > 4096
    ):
        raise refused("bad_request", shown, path, "bad_entered_key")
    return key


def refused(code: ErrorCode, shown: str, path: KeyPath, kind: str, **params: str | int) -> SettingsRefused:
    """A refusal that names the key and what would be right."""
    return SettingsRefused(code, [Problem(shown, None, dotted(path)[:200], kind, f"{kind}_fix", params)])


def _forbidden(key: str) -> PetError:
    return PetError("forbidden", "config.owner_only", setting=key[:200])
