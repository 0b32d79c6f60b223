from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from server.errors import PetError
from server.models.events import Connection, Finish, RoleModel, TextDelta
from server.models.hub import ModelHub
from server.protocol import StateName
from tests.fakes.openai_server import Hang, Pause, Reply, Request, Scripted, ScriptedProvider, Status
from tests.models.conftest import ALONE, NOBODY, MakeHub, chat_with

OLLAMA_AT = "[llm.providers.ollama]\nbase_url = '{}'\n[llm.providers.lmstudio]\nbase_url = '{}'\n"


async def reached(hub: ModelHub, wanted: Callable[[Connection], bool]) -> Connection:
    """Waits until the connection is as ``wanted``."""
    found = asyncio.Event()
    stop = hub.subscribe(lambda connection: found.set() if wanted(connection) else None)
    async with asyncio.timeout(30):
        if not wanted(hub.connection):
            await found.wait()
    stop()
    return hub.connection


async def state(hub: ModelHub, name: StateName) -> Connection:
    return await reached(hub, lambda connection: connection.state == name)


async def reply(hub: ModelHub, model: RoleModel) -> str:
    text = ""
    async with asyncio.timeout(30):
        stream = hub.stream_chat(model, [{"role": "user", "content": "Hi"}], temperature=0.5)
        async with aclosing(stream) as events:
            async for event in events:
                text += event.text if isinstance(event, TextDelta) else ""
    return text


def like_ollama(provider: ScriptedProvider, *, context: int | None = None, **abilities: list[str]) -> None:
    """Gives ``provider`` Ollama's own API; ``abilities`` by model, ``chatty`` for the ``:latest`` ones."""

    def show(request: Request) -> Scripted:
        name = request.body["model"].removesuffix(":latest")
        if name not in abilities:
            return Status(404, {"error": "model not found"})
        return Status(200, {"capabilities": abilities[name], "parameters": "", "model_info": {}})

    provider.models = [f"{name}:latest" for name in abilities]
    running = [{"name": name, "context_length": context} for name in provider.models if context]
    provider.route("GET", "/api/ps", {"models": running})
    provider.route("POST", "/api/show", show)


# --- states -----------------------------------------------------------------------------------


async def test_starting_waits_for_nobody(provider: ScriptedProvider, make_hub: MakeHub) -> None:
    provider.route("GET", "/v1/models", Hang())
    hub = await make_hub(chat_with(provider.base_url))
    assert hub.connection.state == "testing-connection"


async def test_a_named_provider_that_answers_is_ready(provider: ScriptedProvider, make_hub: MakeHub) -> None:
    hub = await make_hub(chat_with(provider.base_url))
    await state(hub, "ready")
    model = await hub.resolve("chat")
    assert (model.provider, model.model, model.local, model.demo) == (
        "scripted",
        "scripted-chat",
        True,
        False,
    )
    assert await reply(hub, model) == "Hello there."


async def test_an_address_without_v1_works_too(provider: ScriptedProvider, make_hub: MakeHub) -> None:
    hub = await make_hub(chat_with(provider.root_url + "/"))
    assert await reply(hub, await hub.resolve("chat")) == "Hello there."


async def test_a_named_local_provider_that_is_down_needs_its_guide(make_hub: MakeHub) -> None:
    hub = await make_hub(chat_with(NOBODY))
    connection = await state(hub, "needs-local-model")
    assert connection.guide == "ollama"
    with pytest.raises(PetError) as failure:
        await reply(hub, await hub.resolve("chat"))
    assert failure.value.code == "provider_unreachable"


async def test_a_wrong_key_is_an_error_with_the_cloud_guide_or_the_servers(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    provider.api_key = "right-key"
    hub = await make_hub(chat_with(provider.base_url, key="wrong-key"))
    connection = await state(hub, "error")
    assert connection.error is not None
    assert connection.error.code == "provider_auth"


async def test_a_missing_key_is_told_before_anything_is_sent(
    make_hub: MakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    hub = await make_hub("[agent.models.chat]\nprovider = 'openai'\nmodel = 'gpt-5.2'\n")
    connection = await state(hub, "error")
    assert connection.guide == "cloud"
    with pytest.raises(PetError) as failure:
        await hub.resolve("chat")
    assert failure.value.code == "provider_auth"


async def test_a_provider_without_a_model_list_is_asked_all_the_same(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    provider.route("GET", "/v1/models", Status(404, "not found"))
    hub = await make_hub(chat_with(provider.base_url, model="anything"))
    await state(hub, "ready")
    assert await reply(hub, await hub.resolve("chat")) == "Hello there."


async def test_a_provider_whose_list_hangs_is_told_as_too_slow(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    provider.route("GET", "/v1/models", Hang())
    hub = await make_hub(chat_with(provider.base_url))
    connection = await state(hub, "needs-local-model")
    assert connection.error is not None
    assert connection.error.text == "models.unreachable_timeout"


async def test_a_provider_without_a_chat_model_asks_for_one(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    provider.models = ["nomic-embed-text"]
    hub = await make_hub(chat_with(provider.base_url, model=""))
    await state(hub, "model-selection")
    with pytest.raises(PetError) as failure:
        await hub.resolve("chat")
    assert failure.value.code == "needs_model"


async def test_a_file_that_does_not_exist_is_an_error_of_the_builtin_provider(make_hub: MakeHub) -> None:
    text = ALONE + "[llm.providers.builtin]\ngguf = 'nowhere.gguf'\n"
    connection = await state(await make_hub(text), "error")
    assert connection.guide == "builtin"
    assert connection.error is not None
    assert "nowhere.gguf" in connection.error.message("en")


async def test_without_the_engine_a_local_model_is_needed(
    make_hub: MakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.models.builtin.files._ENGINE", "an_engine_that_is_not_installed")
    connection = await state(await make_hub(ALONE), "needs-local-model")
    assert connection.guide == "ollama"


# --- what is noticed without a restart -----------------------------------------------------------


async def test_a_server_that_starts_later_is_noticed(make_hub: MakeHub) -> None:
    async with ScriptedProvider() as provider:
        text = chat_with(provider.base_url, model="")
        await provider.stop()
        hub = await make_hub(text, look_again_s=0.05)
        await state(hub, "needs-local-model")
        await provider.start()
        await state(hub, "ready")
        assert await reply(hub, await hub.resolve("chat")) == "Hello there."


async def test_a_server_that_ends_is_noticed_by_the_next_message(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    hub = await make_hub(chat_with(provider.base_url))
    model = await hub.resolve("chat")
    await provider.stop()
    with pytest.raises(PetError):
        await reply(hub, model)
    await state(hub, "needs-local-model")
    await provider.start()
    assert await reply(hub, await hub.resolve("chat")) == "Hello there."
    await state(hub, "ready")


async def test_looking_again_shows_nothing_while_nothing_changed(make_hub: MakeHub) -> None:
    hub = await make_hub(chat_with(NOBODY))
    await state(hub, "needs-local-model")
    seen: list[Connection] = []
    hub.subscribe(seen.append)
    for _ in range(3):
        hub.look_again()
        await hub.list_models("builtin")
    assert seen == []


async def test_a_change_of_lab_toml_takes_effect(
    provider: ScriptedProvider, make_hub: MakeHub, tmp_path: Path
) -> None:
    hub = await make_hub(chat_with(NOBODY))
    await state(hub, "needs-local-model")
    seen: list[StateName] = []
    hub.subscribe(lambda connection: seen.append(connection.state))
    store = hub._store
    await store.select_model("chat", "scripted", "other-model")
    (tmp_path / "lab.toml").write_text(chat_with(provider.base_url, model="other-model"), encoding="utf-8")
    await store.reload()
    model = await hub.resolve("chat")
    assert model.model == "other-model"
    await state(hub, "ready")
    assert seen[0] == "testing-connection"


async def test_a_key_that_is_entered_takes_effect(provider: ScriptedProvider, make_hub: MakeHub) -> None:
    provider.api_key = "right-key"
    hub = await make_hub(chat_with(provider.base_url, key="stored"))
    assert (await state(hub, "error")).guide == "cloud"
    store = hub._store
    await store.update(store.revision, {"llm.providers.scripted.api_key": "right-key"})
    await state(hub, "ready")
    assert await reply(hub, await hub.resolve("chat")) == "Hello there."


async def test_a_change_during_a_slow_look_does_not_wait_for_it(
    provider: ScriptedProvider, make_hub: MakeHub, tmp_path: Path
) -> None:
    async with ScriptedProvider() as slow, asyncio.timeout(30):
        slow.route("GET", "/v1/models", Hang())
        hub = await make_hub(chat_with(slow.base_url))
        await slow.paused()
        (tmp_path / "lab.toml").write_text(chat_with(provider.base_url), encoding="utf-8")
        await hub._store.reload()
        assert await reply(hub, await hub.resolve("chat")) == "Hello there."


# --- local servers ---------------------------------------------------------------------------


async def test_ollama_tells_what_its_model_can_do(provider: ScriptedProvider, make_hub: MakeHub) -> None:
    like_ollama(provider, context=4096, embed=["embedding"], chatty=["completion", "vision", "tools"])
    hub = await make_hub(OLLAMA_AT.format(provider.base_url, NOBODY))
    model = await hub.resolve("chat")
    assert (model.provider, model.model, model.context_tokens) == ("ollama", "chatty:latest", 4096)
    assert (model.capabilities.vision, model.capabilities.tools) == (True, True)


async def test_ollamas_context_is_asked_for_again_once_the_model_runs(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    like_ollama(provider, chatty=["completion"])
    hub = await make_hub(OLLAMA_AT.format(provider.base_url, NOBODY))
    model = await hub.resolve("chat")
    assert model.context_tokens is None
    like_ollama(provider, context=2048, chatty=["completion"])
    await reply(hub, model)
    async with asyncio.timeout(30):
        while (await hub.resolve("chat")).context_tokens != 2048:
            await hub.list_models("ollama")  # something to do on the event loop meanwhile


async def test_a_model_that_ollama_lacks_names_the_command(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    like_ollama(provider, chatty=["completion"])
    hub = await make_hub(chat_with(provider.base_url, model="qwen3"))
    connection = await state(hub, "model-selection")
    assert connection.guide == "ollama"
    assert connection.error is not None
    assert "ollama pull qwen3" in (connection.error.hint("en") or "")


async def test_lm_studio_answers_with_the_model_that_is_loaded(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    entries = [
        {"id": "big", "type": "llm", "state": "not-loaded", "max_context_length": 131072},
        {"id": "small", "type": "vlm", "state": "loaded", "loaded_context_length": 8192},
    ]
    provider.models = ["big", "small"]
    provider.route("GET", "/api/v0/models", {"data": entries})
    hub = await make_hub(OLLAMA_AT.format(NOBODY, provider.base_url))
    model = await hub.resolve("chat")
    assert (model.provider, model.model, model.context_tokens) == ("lmstudio", "small", 8192)
    assert model.capabilities.vision is True


async def test_no_hosted_provider_is_even_asked_where_the_choice_is_open(
    provider: ScriptedProvider, make_hub: MakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedProvider() as proxy:
        for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, proxy.root_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-1234567890")
        hub = await make_hub(OLLAMA_AT.format(provider.base_url, NOBODY))
        await state(hub, "ready")
        assert proxy.connections == 0


# --- roles -----------------------------------------------------------------------------------


async def test_roles_fall_back_to_the_chat_model_but_for_vision(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    hub = await make_hub(chat_with(provider.base_url, more="supports_vision = true"))
    assert (await hub.resolve("tool")).model == "scripted-chat"
    with pytest.raises(PetError) as failure:
        await hub.resolve("vision")
    assert failure.value.code == "needs_model"
    roles = hub.roles()
    assert set(roles) == {"chat", "tool"}
    assert roles["chat"].capabilities.vision is True


async def test_each_role_may_have_its_own_provider(provider: ScriptedProvider, make_hub: MakeHub) -> None:
    async with ScriptedProvider(models=["helper"]) as other:
        more = f"""
        [llm.providers.other]
        base_url = "{other.base_url}"
        [agent.models.tool]
        provider = "other"
        [agent.models.vision]
        provider = "other"
        model = "seer"
        """
        hub = await make_hub(chat_with(provider.base_url, more=more))
        found = [(await hub.resolve(role)).model for role in ("chat", "tool", "vision")]
        assert found == ["scripted-chat", "helper", "seer"]


async def test_what_a_model_refused_is_known_after_a_restart(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    provider.refuses = {"stream_options"}
    first = await make_hub(chat_with(provider.base_url))
    await reply(first, await first.resolve("chat"))
    await first.aclose()
    second = await make_hub(chat_with(provider.base_url))
    model = await second.resolve("chat")
    assert model.capabilities.streaming_usage is False
    await reply(second, model)
    assert len(provider.requests) == 3


# --- one provider ----------------------------------------------------------------------------


async def test_models_are_listed_without_starting_anything(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    provider.models = ["zeta", "alpha", {"id": "text-embedding-3"}]
    hub = await make_hub(chat_with(provider.base_url), started=False)
    assert await hub.list_models("scripted") == ["alpha", "text-embedding-3", "zeta"]
    with pytest.raises(PetError) as failure:
        await hub.list_models("nobody")
    assert failure.value.code == "not_found"


async def test_a_provider_is_tested_without_starting_anything(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    hub = await make_hub(chat_with(provider.base_url), started=False)
    good = await hub.test("scripted")
    assert (good.ok, good.code) == (True, None)
    assert good.latency_ms is not None
    await provider.stop()
    bad = await hub.test("scripted", "zh-CN")
    assert (bad.ok, bad.code) == (False, "provider_unreachable")
    assert "连不上" in (bad.message or "")
    assert (await hub.test("nobody")).code == "not_found"


async def test_resolving_works_without_starting_anything(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    hub = await make_hub(chat_with(provider.base_url), started=False)
    assert await reply(hub, await hub.resolve("chat")) == "Hello there."


async def test_a_failure_of_the_provider_is_told_with_its_code(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    hub = await make_hub(chat_with(provider.base_url))
    model = await hub.resolve("chat")
    provider.script(Status(429, retry_after=60), Reply("fine"))
    with pytest.raises(PetError) as failure:
        await reply(hub, model)
    assert (failure.value.code, failure.value.retry_after_s) == ("provider_rate_limited", 60.0)
    assert await reply(hub, model) == "fine"


async def test_closing_the_stream_through_the_hub_ends_the_request(
    provider: ScriptedProvider, make_hub: MakeHub
) -> None:
    hub = await make_hub(chat_with(provider.base_url))
    model = await hub.resolve("chat")
    provider.script(Reply("one", Pause(), "two"))
    async with asyncio.timeout(30):
        stream = hub.stream_chat(model, [{"role": "user", "content": "Hi"}], temperature=0.5)
        async with aclosing(stream) as events:
            assert not isinstance(await anext(events), Finish)
            await provider.paused()
        await provider.client_gone()


async def test_a_model_file_under_test_is_not_ended_by_another_providers_test(
    make_hub: MakeHub, provider: ScriptedProvider
) -> None:
    """`pet doctor` asks all at once: the quick ones must not take the slow one's child away."""
    hub = await make_hub(f'[llm.providers.quick]\nbase_url = "{provider.base_url}"\n', started=False)
    slow = asyncio.create_task(hub.test("builtin"))
    while not slow.done():
        assert (await hub.test("quick")).ok
    tested = await slow
    assert tested.ok, tested.message
