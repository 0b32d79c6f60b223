"""From the old form to today's, with every comment."""

from __future__ import annotations

import stat
import sys
import tomllib
from pathlib import Path

import pytest

from server.config.load import load
from server.config.migrate import migrate, migrate_file
from server.config.problems import ConfigError
from server.config.toml_text import scan

OLD = """\
# my companion
[server]
port = 12000   # mine

# the models
[agent.llm.openai] # the cloud
llm_api_key = "sk-x"   # my key
llm_base_url    =  "https://api.openai.com/v1"
llm_model_name = "gpt-4.1" # good

# at home
[agent.llm.home]
llm_api_key = ""
llm_base_url = "http://127.0.0.1:8000/v1"
llm_model_name = "qwen"

[chat]
temperature = 0.5
"""
NEW = """\
# my companion
[server]
port = 12000   # mine

# the models
[llm.providers.openai] # the cloud
api_key = "sk-x"   # my key
base_url    =  "https://api.openai.com/v1"
# good

# at home
[llm.providers.home]
api_key = ""
base_url = "http://127.0.0.1:8000/v1"

[chat]
temperature = 0.5

[agent.models.chat]
provider = "openai"
model = "gpt-4.1"

[agent.models.tool]
provider = "openai"
model = "gpt-4.1"

[agent.models.vision]
provider = "openai"
model = "gpt-4.1"
"""


def roles(text: str) -> dict[str, tuple[str, str]]:
    migrated = migrate(text)
    assert migrated is not None
    models = tomllib.loads(migrated.text)["agent"]["models"]
    assert {role: (table["provider"], table["model"]) for role, table in models.items()} == migrated.roles
    return dict(migrated.roles)


def provider(name: str, model: str = "") -> str:
    line = f'llm_model_name = "{model}"\n' if model else ""
    return f'[agent.llm.{name}]\nllm_base_url = "http://{name}"\nllm_api_key = ""\n{line}'


def test_headings_and_keys_change_where_they_stand() -> None:
    migrated = migrate(OLD)
    assert migrated is not None
    assert migrated.text == NEW
    assert migrated.providers == ("openai", "home")


def test_todays_form_needs_nothing() -> None:
    assert migrate(NEW) is None
    assert migrate("") is None


def test_providers_called_like_roles_play_them() -> None:
    text = provider("tool", "t") + provider("chat", "c") + provider("vision", "v")
    assert roles(text) == {"chat": ("chat", "c"), "tool": ("tool", "t"), "vision": ("vision", "v")}


def test_a_role_without_a_provider_of_its_own_is_the_chats() -> None:
    text = provider("tool", "t") + provider("chat", "c")
    assert roles(text)["vision"] == ("chat", "c")


def test_the_first_provider_with_a_model_plays_all_roles() -> None:
    assert set(roles(provider("a") + provider("b", "m")).values()) == {("b", "m")}


def test_old_role_tables_say_who_plays_what() -> None:
    text = (
        '[agent.chat_model]\nllm_provider = "b" # who\nllm_model_name = "m1"\nsupport_vision = false\n'
        '[agent.vision_model]\nllm_provider = "a"\n' + provider("a", "m2") + provider("b")
    )
    assert roles(text) == {"chat": ("b", "m1"), "tool": ("b", "m1"), "vision": ("a", "m2")}
    migrated = migrate(text)
    assert migrated is not None
    assert (
        '[agent.models.chat]\nprovider = "b" # who\nmodel = "m1"\nsupports_vision = false\n' in migrated.text
    )


def test_what_todays_form_already_says_stays() -> None:
    text = (
        '[llm.providers.a]\nbase_url = "http://kept"\n'
        '[agent.models.chat]\nprovider = "a"\nmodel = "kept"\n' + provider("a", "old") + provider("b", "m")
    )
    migrated = migrate(text)
    assert migrated is not None
    data = tomllib.loads(migrated.text)
    assert data["llm"]["providers"]["a"] == {"base_url": "http://kept", "api_key": ""}
    assert data["agent"]["models"]["chat"] == {"provider": "a", "model": "kept"}
    assert "llm" not in data["agent"]


@pytest.mark.parametrize(
    "text",
    [
        '[agent]\nllm.a.llm_base_url = "http://a" # c\nllm.a.llm_model_name = "m"\n',
        '[agent.llm]\na = { llm_base_url = "http://a", llm_model_name = "m" } # c\n',
        'agent = { llm = { a = { llm_base_url = "http://a", llm_model_name = "m" } } } # c\n',
    ],
)
def test_other_ways_of_writing_the_same_are_moved(text: str) -> None:
    assert set(roles(text).values()) == {("a", "m")}
    migrated = migrate(text)
    assert migrated is not None
    assert tomllib.loads(migrated.text)["llm"]["providers"]["a"] == {"base_url": "http://a"}
    assert "# c" in migrated.text


def test_a_value_without_a_new_place_stays_as_a_comment() -> None:
    migrated = migrate("[agent.llm]\n# hint\ndefault = [\n  1,\n]\n" + provider("a", "m"))
    assert migrated is not None
    assert "# hint\n# default = [\n#   1,\n# ]\n" in migrated.text


def test_every_comment_survives() -> None:
    migrated = migrate(OLD)
    assert migrated is not None
    before, after = scan(OLD), scan(migrated.text)
    assert [OLD[start:end] for start, end in before.comments] == [
        migrated.text[start:end] for start, end in after.comments
    ]


def test_the_file_is_rewritten_and_the_old_one_kept(tmp_path: Path) -> None:
    path = tmp_path / "lab.toml"
    path.write_bytes(b"\xef\xbb\xbf" + OLD.replace("\n", "\r\n").encode())
    path.chmod(0o600)
    old = path.read_bytes()
    (tmp_path / "lab.toml.bak-1").write_bytes(b"an older backup")
    done = migrate_file(path, "lab.toml")
    assert done is not None
    assert done[1] == tmp_path / "lab.toml.bak-2"
    assert done[1].read_bytes() == old
    assert (tmp_path / "lab.toml.bak-1").read_bytes() == b"an older backup"
    assert path.read_bytes() == b"\xef\xbb\xbf" + NEW.replace("\n", "\r\n").encode()
    if sys.platform != "win32":
        assert stat.S_IMODE(done[1].stat().st_mode) == 0o600
    assert load(path).config.agent.models.chat.model == "gpt-4.1"
    assert migrate_file(path, "lab.toml") is None


def test_a_file_that_is_no_toml_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "lab.toml"
    path.write_bytes(b"[agent.llm\n")
    with pytest.raises(ConfigError):
        migrate_file(path, "lab.toml")
    assert path.read_bytes() == b"[agent.llm\n"
    assert list(tmp_path.iterdir()) == [path]
