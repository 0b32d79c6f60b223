from typing import Any

import pytest

from server.models.listing import (
    ListedModel,
    Survey,
    read_lmstudio,
    read_model_list,
    read_ollama_running,
    read_ollama_show,
    read_props,
)
from server.models.provider import Flavour


def only(entry: dict[str, Any]) -> ListedModel:
    (model,) = read_model_list({"data": [entry]}) or ()
    return model


def test_a_hosted_list_tells_context_and_abilities() -> None:
    model = only(
        {
            "id": "a/b",
            "context_length": 128000,
            "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
            "supported_parameters": ["tools", "temperature"],
        }
    )
    assert (model.context_tokens, model.vision, model.tools) == (128000, True, True)


def test_abilities_may_be_flags() -> None:
    flags = {"vision": False, "function_calling": True}
    model = only({"id": "m", "capabilities": flags, "max_context_length": 32768})
    assert (model.context_tokens, model.vision, model.tools) == (32768, False, True)


def test_a_bare_entry_tells_nothing() -> None:
    assert only({"id": "m"}) == ListedModel("m")


@pytest.mark.parametrize("data", [None, 3, "x", {}, {"data": "no"}, {"error": "unauthorised"}])
def test_what_is_no_list_is_none(data: Any) -> None:
    assert read_model_list(data) is None


def test_broken_entries_are_left_out() -> None:
    assert read_model_list([None, 4, {}, {"id": ""}, {"id": 7}, "m"]) == (ListedModel("m"),)


@pytest.mark.parametrize(
    "name",
    [
        "text-embedding-3-small",
        "nomic-embed-text:latest",
        "bge-m3",
        "whisper-1",
        "tts-1-hd",
        "gpt-4o-mini-tts",
        "dall-e-3",
        "gpt-image-1",
        "omni-moderation-latest",
        "gpt-4o-realtime-preview",
        "all-minilm",
        "qwen3-reranker",
        "gpt-4o-transcribe",
        "black-forest-labs/flux-1",
        "stable-diffusion-xl",
    ],
)
def test_models_that_cannot_chat_are_known_by_name_where_nothing_else_tells(name: str) -> None:
    assert not ListedModel(name).can_chat


@pytest.mark.parametrize(
    "name",
    [
        "gpt-5.2",
        "qwen3:4b",
        "llama3.2",
        "deepseek-chat",
        "gemini-2.5-flash",
        "smollm2",
        "mistral-small",
        "phi4-mini",
        "gemma3:12b",
        "SmolLM2-135M-Instruct.Q4_1",
        "o4-mini",
        "scripted-chat",
        "beast-1",
    ],
)
def test_chat_models_are_not_mistaken(name: str) -> None:
    assert ListedModel(name).can_chat


def test_what_a_server_says_beats_the_name() -> None:
    assert ListedModel("embedding-fan-chat", chat=True).can_chat
    assert not ListedModel("llama", chat=False).can_chat


def test_lm_studio_tells_kind_state_and_context() -> None:
    models = read_lmstudio(
        {
            "data": [
                {"id": "nomic", "type": "embeddings", "state": "not-loaded"},
                {"id": "qwen", "type": "llm", "state": "not-loaded", "max_context_length": 32768},
                {
                    "id": "gemma",
                    "type": "vlm",
                    "state": "loaded",
                    "max_context_length": 131072,
                    "loaded_context_length": 4096,
                    "capabilities": ["tool_use"],
                },
            ]
        }
    )
    assert models == (
        ListedModel("nomic", chat=False, vision=False),
        ListedModel("qwen", chat=True, vision=False, context_tokens=32768),
        ListedModel("gemma", chat=True, vision=True, tools=True, context_tokens=4096, loaded=True),
    )
    assert [model.id for model in Survey(models).chat_models()] == ["gemma", "qwen"]


@pytest.mark.parametrize("data", [None, {"error": "Unexpected endpoint"}, {"data": [{"id": "m"}]}, []])
def test_another_server_is_not_taken_for_lm_studio(data: Any) -> None:
    assert read_lmstudio(data) is None


def test_ollama_tells_the_context_that_a_model_really_got() -> None:
    told = read_ollama_running({"models": [{"name": "qwen3:4b", "context_length": 4096}]})
    assert told is not None
    assert told.of(ListedModel("qwen3:4b")) == ListedModel("qwen3:4b", context_tokens=4096, loaded=True)
    assert told.of(ListedModel("llama3")) == ListedModel("llama3")


def test_ollama_shows_abilities_and_a_context_that_was_set() -> None:
    shown = {
        "capabilities": ["completion", "vision", "tools"],
        "parameters": 'stop "<|im_end|>"\nnum_ctx                        8192',
        "model_info": {"qwen3.context_length": 262144},
    }
    model = read_ollama_show(ListedModel("qwen3"), shown)
    assert (model.chat, model.vision, model.tools, model.context_tokens) == (True, True, True, 8192)
    assert read_ollama_show(ListedModel("e"), {"capabilities": ["embedding"]}).chat is False
    assert read_ollama_show(ListedModel("e"), "nonsense") == ListedModel("e")


def test_ollamas_latest_may_be_left_out() -> None:
    survey = Survey((ListedModel("llama3:latest"),), flavour="ollama")
    assert survey.model("llama3") == ListedModel("llama3:latest")
    assert Survey(survey.models).model("llama3") is None


def test_llama_cpp_tells_context_and_vision() -> None:
    told = read_props({"default_generation_settings": {"n_ctx": 2048}, "modalities": {"vision": True}})
    assert told is not None
    assert told.of(ListedModel("m")) == ListedModel("m", context_tokens=2048, vision=True)
    assert read_props({"error": "no"}) is None


def test_llama_cpp_tells_whether_the_template_knows_tools() -> None:
    told = read_props({"default_generation_settings": {}, "chat_template_caps": {"supports_tools": False}})
    assert told is not None
    assert told.of(ListedModel("m")).tools is False


@pytest.mark.parametrize(
    ("name", "listed", "flavour", "expected"),
    [
        ("qwen3:4b", ["qwen3:4b"], "ollama", True),
        ("qwen3", ["qwen3:latest"], "ollama", True),
        ("qwen3:8b", ["qwen3:4b"], "ollama", False),
        ("gemini-2.5-flash", ["models/gemini-2.5-flash"], None, True),
        ("claude-sonnet-4-5", ["claude-sonnet-4-5-20250929"], None, True),
        ("claude-sonnet-4-5-latest", ["claude-sonnet-4-5-20250929"], None, True),
        ("openai/gpt-4o:online", ["openai/gpt-4o"], None, True),
        ("gpt-4", ["gpt-4o"], None, False),
        ("anything", ["the-one.gguf"], "llamacpp", None),
        ("anything", [], None, None),
    ],
)
def test_whether_a_list_has_a_model(
    name: str, listed: list[str], flavour: Flavour | None, expected: bool | None
) -> None:
    survey = Survey(tuple(ListedModel(model) for model in listed), flavour=flavour)
    assert survey.lists(name) is expected
