"""No model, no choice, no access: each state explains itself, and the page gets a person out of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import OpenTab
from tests.fakes.openai_server import ScriptedProvider
from tests.support.process import serving

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

HOSTILE_MODEL = "<img src=x onerror=alert(1)>:4b"


@asynccontextmanager
async def ollama(*models: str) -> AsyncIterator[ScriptedProvider]:
    """The scripted provider, known for an Ollama by what answers beside ``/v1``."""
    async with ScriptedProvider(models=list(models)) as provider:
        provider.unknown_models_are_404 = True
        provider.route("GET", "/api/ps", {"models": []})
        provider.route("POST", "/api/show", {"capabilities": ["completion"]})
        yield provider


def write(folder: Path, config: str) -> Path:
    path = folder / "lab.toml"
    path.write_text(config, encoding="utf-8")
    return path


async def test_without_a_local_model_the_guide_shows_and_goes_when_one_comes(
    tmp_path: Path, open_tab: OpenTab
) -> None:
    async with ollama("qwen3:4b") as provider:
        await provider.stop()
        write(
            tmp_path,
            f'[llm.providers.ollama]\nbase_url = "{provider.base_url}"\n'
            '[agent.models.chat]\nprovider = "ollama"\n',
        )
        async with serving(tmp_path) as pet:
            tab, untouched = await open_tab(pet.url), await open_tab(pet.url)
            await expect(untouched.hook("guide")).to_be_visible()
            await expect(tab.hook("state-line")).to_have_attribute("data-state", "needs-local-model")
            await expect(tab.hook("guide")).to_have_attribute("data-guide", "ollama")
            await expect(tab.hook("guide")).to_contain_text("ollama pull")
            for other in ("lmstudio", "builtin", "cloud", "ollama"):
                await tab.hook(f"guide-{other}").check(force=True)
                await expect(tab.hook("guide")).to_have_attribute("data-guide", other)
            await tab.hook("guide-test").click()
            await expect(tab.hook("guide-result")).to_contain_text("ollama can't be reached")
            await tab.hook("guide-close").click()
            await expect(tab.hook("guide")).to_have_count(0)
            await tab.hook("guide-open").click()
            await expect(tab.hook("guide")).to_be_visible()

            await provider.start()
            await expect(tab.hook("state-line")).to_have_attribute("data-state", "ready")
            await expect(untouched.hook("guide")).to_have_count(0)
            await untouched.say("Hi")
            await expect(untouched.reply()).to_have_text("Hello there.")


async def test_the_picker_chooses_a_model_and_lab_toml_keeps_its_comments(
    tmp_path: Path, open_tab: OpenTab
) -> None:
    async with ollama(HOSTILE_MODEL, "llama3.2:3b", "qwen3:4b") as provider:
        config = write(
            tmp_path,
            f"""# My companion.
[llm.providers.ollama]   # on this machine
base_url = "{provider.base_url}"

[agent.models.chat]
provider = "ollama"
model = "gone:7b"        # the one I had before
# That was all.
""",
        )
        before = config.read_text(encoding="utf-8")
        async with serving(tmp_path) as pet:
            tab = await open_tab(pet.url, locale="zh-CN")
            await expect(tab.hook("state-line")).to_have_attribute("data-state", "model-selection")
            await expect(tab.hook("model-select").locator("option")).to_have_text(
                sorted([HOSTILE_MODEL, "llama3.2:3b", "qwen3:4b"])
            )
            await tab.hook("model-select").select_option("qwen3:4b")
            await tab.hook("model-use").click()
            await expect(tab.hook("state-line")).to_have_attribute("data-state", "ready")
            assert config.read_text(encoding="utf-8") == before.replace("gone:7b", "qwen3:4b")
            await tab.say("你好")
            await expect(tab.reply()).to_have_text("Hello there.")
            assert provider.requests[-1].body["model"] == "qwen3:4b"


async def test_a_missing_key_is_an_error_whose_guide_names_the_variable(
    tmp_path: Path, open_tab: OpenTab
) -> None:
    write(
        tmp_path,
        '[llm.providers.openai]\napi_key = "env:KEY_THAT_NOBODY_SETS"\n'
        '[agent.models.chat]\nprovider = "openai"\nmodel = "gpt-5.2"\n',
    )
    async with serving(tmp_path) as pet:
        tab = await open_tab(pet.url, locale="zh-CN")
        await expect(tab.hook("state-line")).to_have_attribute("data-state", "error")
        await expect(tab.hook("guide")).to_have_attribute("data-guide", "cloud")
        await tab.hook("guide-test").click()
        await expect(tab.hook("guide-result")).to_contain_text("KEY_THAT_NOBODY_SETS")
        await tab.say("你好")
        await expect(tab.failure()).to_contain_text("KEY_THAT_NOBODY_SETS")


async def test_what_providers_and_other_agents_are_called_is_never_html(
    tmp_path: Path, open_tab: OpenTab
) -> None:
    async with ScriptedProvider() as provider:
        provider.unknown_models_are_404 = True
        write(
            tmp_path,
            f'[llm.providers.scripted]\nbase_url = "{provider.base_url}"\napi_key = "k"\n'
            f'[agent.models.chat]\nprovider = "scripted"\nmodel = "{HOSTILE_MODEL}"\n',
        )
        async with serving(tmp_path) as pet:
            tab = await open_tab(pet.url)
            await tab.say("Hi")
            await expect(tab.failure()).to_contain_text(HOSTILE_MODEL)
            async with pet.page(client="<img src=x onerror=alert(2)>") as agent:
                await agent.send("say", text="<img src=x onerror=alert(3)>", expression="smile")
                await expect(tab.hook("say")).to_contain_text("onerror=alert(2)")
                await expect(tab.hook("say")).to_contain_text("onerror=alert(3)")
                await expect(tab.hook("stage")).to_have_attribute("data-expression", "smile")
            await expect(tab.page.locator("img")).to_have_count(0)
