"""``pet config`` in the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from server.cli.config import app


class Terminal:
    def __init__(self, config: Path, data_dir: Path) -> None:
        self.options = ["--config", str(config), "--data-dir", str(data_dir)]

    def run(self, *words: str, lang: str = "C") -> Result:
        return CliRunner().invoke(app, [*words, *self.options], env={"LC_ALL": lang})


@pytest.fixture
def terminal(config: Path, data_dir: Path) -> Terminal:
    return Terminal(config, data_dir)


def test_a_valid_file_is_said_to_be_valid(terminal: Terminal, config: Path) -> None:
    done = terminal.run("check")
    assert (done.exit_code, done.stdout) == (0, f"{config} is valid.\n")


def test_an_invalid_file_is_explained_and_ends_with_2(terminal: Terminal, config: Path) -> None:
    config.write_text("[chat]\ntemprature = 1\ncontext_tokens = 0\n", encoding="utf-8")
    done = terminal.run("check")
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        'lab.toml:2: chat.temprature: unknown key; did you mean "temperature"?',
        "lab.toml:3: chat.context_tokens: too small; at least 512",
    ]
    assert "是不是想写" in terminal.run("check", lang="zh_CN.UTF-8").stderr


def test_a_missing_file_ends_with_2(terminal: Terminal, config: Path) -> None:
    config.unlink()
    assert terminal.run("check").exit_code == 2
    assert not config.exists()


def test_the_path_is_printed_alone(terminal: Terminal, config: Path, data_dir: Path) -> None:
    done = terminal.run("path")
    assert (done.exit_code, done.stdout) == (0, f"{config}\n")
    assert not data_dir.exists()


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("chat.temperature", "1", "temperature = 1 # warm"),
        ("agent.models.chat.model", "gpt-5", 'model = "gpt-5"'),
        ("agent.models.chat.model", '"gpt-5"', 'model = "gpt-5"'),
        ("agent.models.chat.model", "2024-05-13", 'model = "2024-05-13"'),
        ("agent.models.chat.supports_vision", "true", "supports_vision = true"),
        ("tools.screenshot", "ask", 'screenshot = "ask"'),
        ("server.hosts", '["pet.example"]', 'hosts = ["pet.example"]'),
        ('tools."tests__run".timeout_s', "600", "timeout_s = 600"),
        ("mcp.servers.x", '{ command = "npx", args = ["-y"] }', 'args = ["-y"]'),
        ("llm.providers.own.api_key", "env:OWN_KEY", 'api_key = "env:OWN_KEY"'),
    ],
)
def test_any_value_can_be_set_and_comments_stay(
    terminal: Terminal, config: Path, key: str, value: str, line: str
) -> None:
    done = terminal.run("set", key, value)
    assert done.exit_code == 0, done.stderr
    text = config.read_text(encoding="utf-8")
    assert line in text.splitlines()
    assert text.startswith("# mine\n[llm.providers.openai] # the cloud\n")
    assert terminal.run("check").exit_code == 0


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("chat.temperature", "9", "chat.temperature: too large; at most 2"),
        ("chat.temperature", "warm", "chat.temperature: not a number"),
        ("chat.temprature", "1", 'did you mean "temperature"?'),
        ("agent.models.chat.provider", "ownn", 'did you mean "own"?'),
        ("agent.prompts.persona", "gone.md", "there is no file gone.md beside lab.toml"),
        ("chat..x", "1", "not a key of lab.toml"),
        ("", "1", "not a key of lab.toml"),
        ("a = 1\nb", "1", "not a key of lab.toml"),
        ("chat.temperature.x", "1", "change it in an editor"),
    ],
)
def test_what_would_be_invalid_is_not_written(
    terminal: Terminal, config: Path, key: str, value: str, said: str
) -> None:
    before = config.read_bytes()
    done = terminal.run("set", key, value)
    assert done.exit_code == 2
    assert said in done.stderr
    assert config.read_bytes() == before


def test_one_mistake_can_be_mended_by_setting_it(terminal: Terminal, config: Path) -> None:
    config.write_text("[chat]\ntemperature = 9 # too warm\n", encoding="utf-8")
    assert terminal.run("set", "chat.temperature", "1").exit_code == 0
    assert config.read_text(encoding="utf-8") == "[chat]\ntemperature = 1 # too warm\n"


def test_an_old_file_is_migrated_once(terminal: Terminal, config: Path) -> None:
    config.write_text(
        '[agent.llm.own] # c\nllm_base_url = "http://x"\nllm_model_name = "m"\n', encoding="utf-8"
    )
    assert "pet config migrate" in terminal.run("check").stderr
    done = terminal.run("migrate")
    assert done.exit_code == 0, done.stderr
    assert "lab.toml.bak-1" in done.stdout
    assert "agent.models.chat: own m" in done.stdout
    assert terminal.run("check").exit_code == 0
    again = terminal.run("migrate")
    assert again.exit_code == 0
    assert "nothing to do" in again.stdout
    assert not config.with_name("lab.toml.bak-2").exists()


def test_what_a_migrated_file_still_has_wrong_is_told(terminal: Terminal, config: Path) -> None:
    config.write_text('[agent.llm.own]\nllm_base_url = "http://x"\n[asr]\ndevice = "cpu"\n', encoding="utf-8")
    done = terminal.run("migrate")
    assert done.exit_code == 2
    assert "asr: unknown key" in done.stderr
    assert config.with_name("lab.toml.bak-1").exists()


def test_a_file_that_cant_be_written_ends_with_1(plain_user: Path) -> None:
    config = plain_user / "lab.toml"
    config.write_bytes(b"")
    config.chmod(0o444)
    done = Terminal(config, plain_user / "data").run("set", "chat.temperature", "1")
    assert done.exit_code == 1
    assert "permissions" in done.stderr
