"""What a client may see of the configuration: never a key, a prompt or a path."""

from __future__ import annotations

from typing import Any, Final

from server.config.schema import Config
from server.config.switches import CAPABILITIES, Switches

_SHOWN_TABLES: Final = ("chat", "memory", "pet_mode", "avatar")


def public_settings(config: Config, switches: Switches) -> dict[str, Any]:
    """Dotted key to value. A capability's value is what both switches leave on; ``allowed.KEY`` is what
    lab.toml allows, so that a client knows what can be switched on again.

    ``llm.providers.NAME.has_key`` says whether a key is set, ``….builtin`` whether the companion itself runs
    the model.
    """
    data = config.model_dump(mode="json")
    values: dict[str, Any] = {}
    for table in _SHOWN_TABLES:
        _flatten(values, table, data[table])
    _flatten(values, "agent.models", data["agent"]["models"])
    values["agent.speculate"] = config.agent.speculate
    for name, provider in config.llm.providers.items():
        base = f"llm.providers.{name}"
        values[f"{base}.base_url"] = provider.base_url
        values[f"{base}.api_format"] = provider.api_format
        values[f"{base}.has_key"] = bool(provider.api_key)
        values[f"{base}.builtin"] = provider.builtin
    for capability in CAPABILITIES:
        table, _, key = capability.partition(".")
        values[capability] = switches.level(capability, config)
        values[f"allowed.{capability}"] = data[table][key]
    return values


def _flatten(values: dict[str, Any], prefix: str, data: Any) -> None:
    if isinstance(data, dict):
        for key, below in data.items():
            _flatten(values, f"{prefix}.{key}", below)
    elif data is not None:
        values[prefix] = data
