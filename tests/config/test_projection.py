"""What a client may see: no key, no prompt, no path."""

from __future__ import annotations

import json
from pathlib import Path

from server.config.projection import public_settings
from server.config.schema import Config
from server.config.settings import is_client_key
from server.config.switches import CAPABILITIES, Switches

SECRETS = {
    "llm": {
        "providers": {
            "openai": {"api_key": "SECRET-key"},
            "env": {"base_url": "http://x", "api_key": "env:SECRET_NAME"},
            "file": {"gguf": "/SECRET/path.gguf"},
        }
    },
    "agent": {
        "prompts": {"persona": "SECRET persona", "tool_router": "SECRET.md"},
        "web": {"tavily": {"api_key": "SECRET"}, "allow_private": ["SECRET:1"]},
    },
    "mcp": {"servers": {"x": {"command": "SECRET", "args": ["SECRET"], "env": {"SECRET": "SECRET"}}}},
    "workspace": {"path": "/SECRET", "test_command": ["SECRET"], "authors": ["SECRET"]},
    "limits": {"storage": "redis://SECRET"},
    "site": {"content_dir": "/SECRET", "prompts": {"persona": "SECRET"}},
    "server": {"trusted_proxies": ["10.0.0.1"], "hosts": ["SECRET"]},
}


def test_nothing_secret_is_in_it(data_dir: Path) -> None:
    values = public_settings(Config.model_validate(SECRETS), Switches(data_dir))
    assert "SECRET" not in json.dumps(values)
    assert not any(key.endswith((".api_key", ".gguf")) for key in values)


def test_it_says_whether_a_key_is_set(data_dir: Path) -> None:
    values = public_settings(Config.model_validate(SECRETS), Switches(data_dir))
    assert values["llm.providers.openai.has_key"] is True
    assert values["llm.providers.env.has_key"] is True
    assert values["llm.providers.ollama.has_key"] is False
    assert values["llm.providers.file.builtin"] is True


def test_it_is_flat_and_fits_json(data_dir: Path) -> None:
    values = public_settings(Config(), Switches(data_dir))
    assert json.loads(json.dumps(values)) == values
    assert values["chat.temperature"] == 0.7
    assert values["pet_mode.rules.uncommitted.after_minutes"] == 60
    assert values["agent.models.chat.provider"] == ""
    assert not any(isinstance(value, dict) for value in values.values())


def test_capabilities_show_what_is_on_and_what_is_allowed(data_dir: Path) -> None:
    data_dir.mkdir()
    (data_dir / "switches.json").write_text('{"tools.web": false}', encoding="utf-8")
    values = public_settings(Config.model_validate({"memory": {"enabled": False}}), Switches(data_dir))
    assert (values["tools.web"], values["allowed.tools.web"]) == (False, True)
    assert (values["memory.enabled"], values["allowed.memory.enabled"]) == (False, False)
    assert {f"allowed.{capability}" for capability in CAPABILITIES} <= set(values)


def test_what_is_shown_can_be_changed_or_is_derived(data_dir: Path) -> None:
    derived = ("has_key", "builtin", "api_format")
    for key in public_settings(Config(), Switches(data_dir)):
        path = tuple(key.split("."))
        shown_only = path[0] == "allowed" or path[-1] in derived or key == "agent.speculate"
        assert is_client_key(path) != shown_only, key
