"""Changes by a client: all of them or none, and never more than the owner allows."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from server.config.load import load
from server.config.problems import ConfigError, Trouble
from server.config.schema import Config
from server.config.store import ConfigStore, needs_restart
from server.errors import PetError

OPENAI = "https://api.openai.com/v1"


@pytest.fixture
def store(config: Path, data_dir: Path) -> ConfigStore:
    return ConfigStore(config, data_dir)


def opened(
    config: Path, data_dir: Path, *, lab_toml: str | None = None, switches: str | None = None
) -> ConfigStore:
    """A store over other contents than those of the fixture."""
    if lab_toml is not None:
        config.write_text(lab_toml, encoding="utf-8")
    if switches is not None:
        data_dir.mkdir()
        (data_dir / "switches.json").write_text(switches, encoding="utf-8")
    return ConfigStore(config, data_dir)


def everything(store: ConfigStore) -> dict[str, bytes]:
    """All files, to show that nothing changed."""
    return {str(path): path.read_bytes() for path in store.path.parent.rglob("*") if path.is_file()}


async def refused(store: ConfigStore, changes: dict[str, Any], revision: str | None = None) -> PetError:
    before, config = everything(store), store.config
    with pytest.raises(PetError) as caught:
        await store.update(revision or store.revision, changes)
    assert everything(store) == before
    assert store.config is config
    return caught.value


def test_an_invalid_file_never_becomes_a_store(config: Path, data_dir: Path) -> None:
    config.write_text("[chat]\ntemperature = 9\n", encoding="utf-8")
    with pytest.raises(ConfigError):
        ConfigStore(config, data_dir)


async def test_a_change_is_written_with_comments_kept_and_told(store: ConfigStore) -> None:
    told: list[tuple[Config, Config]] = []
    store.subscribe(lambda old, new: told.append((old, new)))
    before, text = store.config, store.path.read_text(encoding="utf-8")
    revision = await store.update(store.revision, {"chat.temperature": 1, "memory.summary": "off"})
    assert store.path.read_text(encoding="utf-8") == (
        text.replace("temperature = 0.7", "temperature = 1") + '\n[memory]\nsummary = "off"\n'
    )
    assert revision == store.revision == load(store.path).revision
    assert store.config == load(store.path).config
    assert told == [(before, store.config)]


async def test_nobody_is_told_when_nothing_changed(store: ConfigStore) -> None:
    told: list[Config] = []
    store.subscribe(lambda _, new: told.append(new))
    await store.update(store.revision, {"tools.web": True, "chat.temperature": 0.7})
    assert told == []


async def test_who_unsubscribed_is_not_told(store: ConfigStore) -> None:
    told: list[Config] = []
    store.subscribe(lambda _, new: told.append(new))()
    await store.update(store.revision, {"chat.temperature": 1})
    assert told == []


async def test_one_listener_that_fails_keeps_no_other_from_hearing(store: ConfigStore) -> None:
    told: list[Config] = []

    def fail(_old: Config, _new: Config) -> None:
        raise RuntimeError

    store.subscribe(fail)
    store.subscribe(lambda _, new: told.append(new))
    await store.update(store.revision, {"chat.temperature": 1})
    assert told == [store.config]


async def test_another_revision_is_a_conflict(store: ConfigStore) -> None:
    assert (await refused(store, {"chat.temperature": 1}, revision="0" * 64)).code == "conflict"


async def test_an_unseen_edit_by_hand_is_a_conflict_and_is_then_seen(store: ConfigStore) -> None:
    store.path.write_text("[chat]\ntemperature = 0.1\n", encoding="utf-8")
    before = everything(store)
    with pytest.raises(PetError) as caught:
        await store.update(store.revision, {"chat.temperature": 1})
    assert caught.value.code == "conflict"
    assert everything(store) == before
    assert store.config.chat.temperature == 0.1
    await store.update(store.revision, {"chat.temperature": 1})
    assert load(store.path).config.chat.temperature == 1


async def test_a_file_broken_by_hand_is_a_conflict_that_says_what_is_wrong(store: ConfigStore) -> None:
    store.path.write_text("[chat]\ntemprature = 0.1\n", encoding="utf-8")
    error = await refused(store, {"chat.temperature": 1})
    assert error.code == "conflict"
    assert "temprature" in error.message("en")


async def test_two_updates_at_once_against_one_revision_let_one_win(store: ConfigStore) -> None:
    revision = store.revision
    results = await asyncio.gather(
        store.update(revision, {"chat.temperature": 1}),
        store.update(revision, {"chat.temperature": 2}),
        return_exceptions=True,
    )
    errors = [result for result in results if isinstance(result, PetError)]
    assert [error.code for error in errors] == ["conflict"]
    assert store.config == load(store.path).config


async def test_an_update_whose_asker_left_is_taken_over_all_the_same(store: ConfigStore) -> None:
    heard = asyncio.Event()
    store.subscribe(lambda _old, _new: heard.set())
    task = asyncio.create_task(store.update(store.revision, {"tools.web": False, "chat.temperature": 1}))
    await asyncio.sleep(0)
    task.cancel()
    async with asyncio.timeout(10):
        await heard.wait()
    assert store.config.chat.temperature == 1
    assert not store.effective().web


@pytest.mark.parametrize(
    "key",
    [
        "server.port",
        "server.allowed_origins",
        "llm.providers.own.gguf",
        "llm.providers.own.api_format",
        "llm.providers.own",
        "llm.providers",
        "agent.prompts.persona",
        "agent.tool_loop.max_steps",
        "agent.web.allow_private",
        "agent.speculate",
        "agent.models",
        "mcp.servers.x.command",
        "mcp.servers.timeemi.enabled",
        "workspace.path",
        "workspace.test_command",
        "limits.turns_per_minute",
        "limits.storage",
        "site.enabled",
        "tools.tests__run.timeout_s",
        "chat",
        "tools",
        "nothing.at.all",
    ],
)
async def test_what_belongs_to_the_owner_is_forbidden(store: ConfigStore, key: str) -> None:
    for value in (1, None):
        error = await refused(store, {"chat.temperature": 1, key: value})
        assert error.code == "forbidden"
        assert key in error.message("en")
        assert key in error.message("zh-CN")


@pytest.mark.parametrize(
    ("key", "value", "right"),
    [
        ("chat.temperature", 3, "at most 2"),
        ("chat.temperature", "warm", "without quotes"),
        ("chat.temperature", float("nan"), "without quotes"),
        ("chat.temprature", 1, 'did you mean "temperature"?'),
        ("chat.context_tokens", True, "whole number"),
        ("chat.temperature.x", 1, "nothing"),
        ("agent.models.chat.provider", "ownn", 'did you mean "own"?'),
        ("agent.models.chat.model", "a\nb", "type it anew"),
        ("agent.models.chat.model", "\ud800", "type it anew"),
        ("agent.models.chat.model", "x" * 301, "at most 300"),
        ("agent.models.speech.model", "x", "known here: chat, tool, vision"),
        ("llm.providers.new.base_url", "ftp://x", "whole address"),
        ("llm.providers.own.base_url", None, "add base_url"),
        ("llm.providers.own.base_url", 3, "quotes"),
        ("llm.providers.builtin.base_url", "http://x", "remove base_url or gguf"),
        ("llm.providers.own.api_key", 3, "quotes"),
        ("llm.providers.own.api_key", "stored", "the key itself"),
        ("llm.providers.own.api_key", "a b", "the key itself"),
        ("llm.providers.own.api_key", "密钥", "the key itself"),
        ("avatar.model", "../../etc", "name alone"),
        ("avatar.motions.nodd", {"group": "x"}, 'did you mean "nod"?'),
        ("pet_mode.working_hours", ["9 to 5"], "09:00-19:00"),
        ("pet_mode.working_hours", [None], "quotes"),
        ("pet_mode.working_hours", "09:00-19:00", "square brackets"),
        ("pet_mode.rules.idle.enabled", "no", "true or false"),
        ("tools.web", "off", "true or false"),
        ("tools.screenshot", "never", "ask"),
        ("tools.web", {"x": 1}, "nothing"),
        ("chat..temperature", 1, "with dots"),
    ],
)
async def test_a_bad_value_names_its_key_and_what_would_be_right(
    store: ConfigStore, key: str, value: Any, right: str
) -> None:
    error = await refused(store, {"memory.summary": "off", key: value})
    if right == "nothing":
        assert error.code in ("bad_request", "forbidden")
    else:
        assert error.code == "bad_request"
        assert key.split(".")[-1].strip(".") in error.message("en")
        assert right in error.message("en")
        assert error.message("zh-CN") != error.message("en")


async def test_too_many_changes_are_refused(store: ConfigStore) -> None:
    assert (await refused(store, {f"chat.k{n}": n for n in range(501)})).code == "bad_request"


async def test_endless_nesting_is_refused(store: ConfigStore) -> None:
    deep: Any = 1
    for _ in range(3000):
        deep = {"a": deep}
    assert (await refused(store, {"chat.a": deep})).code == "bad_request"


async def test_tables_may_come_as_objects(store: ConfigStore) -> None:
    await store.update(
        store.revision,
        {
            "agent.models.chat": {"provider": "own", "model": "m", "supports_vision": True},
            "avatar.motions.nod": {"group": "Nod", "index": 2},
            "pet_mode": {"strictness": "strict", "nudges": False},
        },
    )
    assert store.config.agent.models.chat.model == "m"
    assert store.config.avatar.motions["nod"].index == 2
    assert store.config.pet_mode.strictness == "strict"
    assert store.config.pet_mode.nudges
    assert not store.effective().nudges


async def test_null_removes_an_optional_value(store: ConfigStore) -> None:
    await store.update(store.revision, {"agent.models.chat.supports_vision": True})
    await store.update(store.revision, {"agent.models.chat.supports_vision": None, "chat.temperature": None})
    assert store.config.agent.models.chat.supports_vision is None
    assert store.config.chat.temperature == 0.7
    assert "# warm" in store.path.read_text(encoding="utf-8")


# --- switches


async def test_switching_off_stays_out_of_lab_toml_and_can_be_undone(store: ConfigStore) -> None:
    raw, told = store.path.read_bytes(), []
    store.subscribe(lambda old, new: told.append(old is new))
    await store.update(
        store.revision, {"tools.web": False, "agent.enable_mcp": False, "memory.enabled": False}
    )
    assert store.path.read_bytes() == raw
    assert told == [True]
    assert (store.effective().web, store.effective().mcp, store.effective().memory) == (False, False, False)
    assert not ConfigStore(store.path, store.switches.path.parent).effective().web
    await store.update(store.revision, {"tools.web": True, "agent.enable_mcp": None})
    assert (store.effective().web, store.effective().mcp, store.effective().memory) == (True, True, False)


async def test_what_the_owner_switched_off_stays_off(store: ConfigStore) -> None:
    error = await refused(store, {"tools.git": True})
    assert error.code == "forbidden"
    assert "tools.git" in error.message("en")
    await store.update(store.revision, {"tools.git": False})
    assert not store.effective().git


async def test_a_client_cant_skip_the_question_before_a_screenshot(store: ConfigStore) -> None:
    assert (await refused(store, {"tools.screenshot": True})).code == "forbidden"
    await store.update(store.revision, {"tools.screenshot": False})
    assert store.effective().screenshot is False
    await store.update(store.revision, {"tools.screenshot": "ask"})
    assert store.effective().screenshot == "ask"


# --- keys


async def test_an_entered_key_goes_to_the_data_folder(store: ConfigStore) -> None:
    await store.update(store.revision, {"llm.providers.openai.api_key": " sk-new\n"})
    text = store.path.read_text(encoding="utf-8")
    assert 'api_key = "stored" # from the environment' in text
    assert "sk-new" not in text
    assert store.keys.get("openai", OPENAI) == "sk-new"


async def test_a_key_entered_again_is_told_although_lab_toml_stays(store: ConfigStore) -> None:
    await store.update(store.revision, {"llm.providers.own.api_key": "sk-1"})
    told: list[bool] = []
    store.subscribe(lambda old, new: told.append(old == new))
    await store.update(store.revision, {"llm.providers.own.api_key": "sk-2"})
    assert told == [True]
    assert store.keys.get("own", store.config.llm.providers["own"].base_url) == "sk-2"


async def test_a_client_cant_read_the_environment(store: ConfigStore) -> None:
    for value in ("env:HOME", " env:HOME", "ENV:HOME"):
        error = await refused(store, {"llm.providers.own.api_key": value})
        assert error.code == "forbidden"


async def test_a_new_address_drops_the_stored_key(store: ConfigStore) -> None:
    await store.update(store.revision, {"llm.providers.own.api_key": "sk-1"})
    await store.update(store.revision, {"llm.providers.own.base_url": "http://10.0.0.9/v1"})
    assert store.config.llm.providers["own"].api_key == ""
    assert "sk-1" not in store.keys.path.read_text(encoding="utf-8")


async def test_the_same_address_in_other_words_keeps_the_key(store: ConfigStore) -> None:
    await store.update(store.revision, {"llm.providers.own.api_key": "sk-1"})
    await store.update(store.revision, {"llm.providers.own.base_url": "http://127.0.0.1:8000/"})
    assert store.config.llm.providers["own"].api_key == "stored"
    assert store.keys.get("own", "http://127.0.0.1:8000/") == "sk-1"


@pytest.mark.parametrize("api_key", ["env:OPENAI_API_KEY", "sk-in-the-file", None])
async def test_a_new_address_never_gets_the_owners_own_key(
    config: Path, data_dir: Path, api_key: str | None
) -> None:
    """The default key of a provider counts too: it is an environment variable of the owner's."""
    line = "" if api_key is None else f'api_key = "{api_key}" # c\n'
    store = opened(config, data_dir, lab_toml=f"[llm.providers.openai]\n{line}")
    await store.update(store.revision, {"llm.providers.openai.base_url": "https://evil.example"})
    assert store.config.llm.providers["openai"].api_key == ""
    await store.update(store.revision, {"llm.providers.openai.api_key": None})
    assert store.config.llm.providers["openai"].api_key == ""


async def test_a_key_entered_with_a_new_address_is_bound_to_that(store: ConfigStore) -> None:
    await store.update(store.revision, {"llm.providers.own.api_key": "sk-old"})
    for order in (("api_key", "base_url"), ("base_url", "api_key")):
        values = {"api_key": "sk-new", "base_url": "http://new.example"}
        await store.update(store.revision, {f"llm.providers.own.{key}": values[key] for key in order})
        assert store.keys.get("own", "http://new.example") == "sk-new"
        assert store.keys.get("own", "http://127.0.0.1:8000/v1") is None


async def test_a_new_provider_can_be_added(store: ConfigStore) -> None:
    changes = {
        "llm.providers.mine.base_url": "https://mine.example/v1",
        "llm.providers.mine.api_key": "sk-m",
        "agent.models.chat.provider": "mine",
    }
    await store.update(store.revision, changes)
    assert store.config.llm.providers["mine"].api_key == "stored"
    assert store.keys.get("mine", "https://mine.example") == "sk-m"


@pytest.mark.parametrize("empty", ["", None])
async def test_a_key_can_be_forgotten(store: ConfigStore, empty: str | None) -> None:
    await store.update(store.revision, {"llm.providers.own.api_key": "sk-1"})
    await store.update(store.revision, {"llm.providers.own.api_key": empty})
    assert store.config.llm.providers["own"].api_key == ""
    assert "sk-1" not in store.keys.path.read_text(encoding="utf-8")


async def test_no_refusal_repeats_the_key(store: ConfigStore) -> None:
    error = await refused(store, {"llm.providers.own.api_key": "sk-very secret"})
    assert "sk-very" not in error.message("en") + str(error.params)


async def test_a_damaged_keys_file_is_set_aside_and_told(store: ConfigStore) -> None:
    troubles: list[Trouble] = []
    store.on_problem(troubles.append)
    store.keys.path.parent.mkdir()
    store.keys.path.write_bytes(b"[broken")
    await store.update(store.revision, {"chat.temperature": 1})
    assert store.keys.path.read_bytes() == b"[broken"
    await store.update(store.revision, {"llm.providers.own.api_key": "sk-1"})
    assert (store.keys.path.parent / "keys.toml.unreadable-1").read_bytes() == b"[broken"
    assert "keys.toml.unreadable-1" in troubles[0].message("en")
    assert "keys.toml.unreadable-1" in troubles[0].message("zh-CN")


async def test_a_damaged_switches_file_is_set_aside_and_told(config: Path, data_dir: Path) -> None:
    store = opened(config, data_dir, switches="{")
    troubles: list[Trouble] = []
    store.on_problem(troubles.append)
    assert not store.effective().web
    await store.update(store.revision, {"tools.web": True, "agent.enable_tools": True})
    assert store.effective().web
    assert not store.effective().mcp
    assert ["switches.json.unreadable-1" in str(trouble) for trouble in troubles] == [True]


# --- all or nothing


async def test_nothing_changes_when_lab_toml_cant_be_written(plain_user: Path) -> None:
    path = plain_user / "lab.toml"
    path.write_text("[chat]\ntemperature = 0.5\n", encoding="utf-8")
    store = ConfigStore(path, plain_user / "data")
    await store.update(store.revision, {"llm.providers.ollama.api_key": "sk-old", "tools.files": False})
    path.chmod(0o444)
    changes = {
        "llm.providers.ollama.base_url": "http://new.example",
        "llm.providers.ollama.api_key": "sk-new",
    }
    error = await refused(store, {**changes, "tools.web": False})
    assert error.code == "forbidden"
    assert store.effective().web
    assert store.keys.get("ollama", "http://127.0.0.1:11434") == "sk-old"


async def test_nothing_changes_when_the_data_folder_cant_be_written(plain_user: Path) -> None:
    path, data_dir = plain_user / "lab.toml", plain_user / "data"
    path.write_text("", encoding="utf-8")
    data_dir.mkdir(0o555)
    store = ConfigStore(path, data_dir)
    error = await refused(store, {"llm.providers.ollama.api_key": "sk", "chat.temperature": 1})
    assert error.code == "forbidden"
    assert "permissions" in error.message("en")


# --- choosing a model


async def test_a_model_is_chosen_whatever_the_revision(store: ConfigStore) -> None:
    store.path.write_text("# by hand\n[llm.providers.own]\nbase_url = 'http://x'\n", encoding="utf-8")
    await store.select_model("chat", "own", "m", True)
    chat = store.config.agent.models.chat
    assert (chat.provider, chat.model, chat.supports_vision) == ("own", "m", True)
    assert store.path.read_text(encoding="utf-8").startswith("# by hand\n")
    await store.select_model("chat", "own", "m2")
    assert store.config.agent.models.chat.supports_vision is None


async def test_a_model_of_no_provider_is_not_found(store: ConfigStore) -> None:
    with pytest.raises(PetError) as caught:
        await store.select_model("vision", "gone", "m")
    assert caught.value.code == "not_found"


def test_what_needs_a_restart_is_named() -> None:
    old = Config()
    new = Config.model_validate(
        {
            "server": {"port": 1, "hosts": ["x"], "require_token": True},
            "chat": {"temperature": 1},
            "limits": {"storage": "redis://x"},
        }
    )
    assert needs_restart(old, new) == ["server.port"]
    assert needs_restart(old, old) == []


async def test_lab_toml_can_be_changed_where_no_data_folder_can_be_made(tmp_path: Path) -> None:
    store = opened(tmp_path / "lab.toml", tmp_path / "lab.toml" / "data", lab_toml="")
    await store.update(store.revision, {"chat.temperature": 1})
    assert store.config.chat.temperature == 1
