from typing import Any

import pytest

from server.config.schema import Config
from server.errors import PetError
from server.models.choice import Choice, Offer, Pick, choose_chat, choose_other
from server.models.listing import ListedModel, Survey
from server.models.provider import Flavour, Provider

CHAT = ListedModel("chatty")
EMBEDDING = ListedModel("nomic-embed-text")


def offer(url: str, *models: ListedModel, flavour: Flavour | None = None) -> Offer:
    return Offer(Provider("p", url), Survey(models, 3, flavour))


def down(url: str, code: Any = "provider_unreachable") -> Offer:
    return Offer(Provider("p", url), PetError(code, "models.nothing_connected"))


OLLAMA = "http://127.0.0.1:11434/v1"
LMSTUDIO = "http://127.0.0.1:1234/v1"
OTHER = "http://127.0.0.1:8080/v1"
CLOUD = "https://api.openai.com/v1"
OWN = Offer(Provider("builtin", "", gguf="x.gguf"), Survey((ListedModel("x", chat=True),)))
DEMO = Offer(Provider("builtin", "", gguf=""), Survey((ListedModel("smol", chat=True),)), demo=True)
NO_ENGINE = Offer(Provider("builtin", "", gguf=""), PetError("needs_model", "models.nothing_connected"))
BROKEN_FILE = Offer(Provider("builtin", "", gguf="x"), PetError("provider_error", "models.nothing_connected"))


def config(**models: Any) -> Config:
    return Config.model_validate({"agent": {"models": models}})


def chosen(offers: dict[str, Offer], **chat: str) -> Choice:
    return choose_chat(config(chat=chat), offers)


def shape(choice: Choice) -> tuple[str, str | None, str | None]:
    return (choice.connection.state, choice.connection.detail, choice.connection.guide)


def test_an_open_choice_takes_ollama_before_lm_studio_before_another_local_server() -> None:
    offers = {"c": offer(OTHER, CHAT), "b": offer(LMSTUDIO, CHAT), "a": offer(OLLAMA, CHAT), "d": OWN}
    assert chosen(offers).pick == Pick("a", "chatty")
    del offers["a"]
    assert chosen(offers).pick == Pick("b", "chatty")
    del offers["b"]
    assert chosen(offers).pick == Pick("c", "chatty")
    del offers["c"]
    assert chosen(offers).pick == Pick("d", "x")


def test_a_server_on_another_port_is_known_by_what_it_answers() -> None:
    offers = {"b": offer(LMSTUDIO, CHAT), "a": offer(OTHER, CHAT, flavour="ollama")}
    assert chosen(offers).pick == Pick("a", "chatty")


def test_models_that_cannot_chat_are_passed_over() -> None:
    assert chosen({"a": offer(OLLAMA, EMBEDDING, CHAT)}).pick == Pick("a", "chatty")


def test_the_demo_answers_only_when_nothing_else_is_reachable() -> None:
    offers = {"a": down(OLLAMA), "b": down(LMSTUDIO), "builtin": DEMO}
    choice = chosen(offers)
    assert shape(choice) == ("ready", "demo", None)
    assert choice.pick == Pick("builtin", "smol", demo=True)
    assert not choice.settled


def test_a_reachable_server_without_a_chat_model_asks_for_one_instead_of_the_demo() -> None:
    choice = chosen({"a": offer(OLLAMA, EMBEDDING), "builtin": DEMO})
    assert shape(choice) == ("model-selection", None, "ollama")
    assert choice.pick is None


def test_a_hosted_provider_is_never_chosen_silently() -> None:
    choice = chosen({"cloud": offer(CLOUD, CHAT), "builtin": NO_ENGINE})
    assert shape(choice) == ("needs-local-model", None, "ollama")
    assert choice.pick is None
    assert choice.connection.error is not None


def test_a_model_may_be_named_without_its_provider() -> None:
    offers = {"a": offer(OLLAMA, CHAT, ListedModel("qwen3:4b"))}
    assert chosen(offers, model="qwen3:4b").pick == Pick("a", "qwen3:4b")


def test_an_own_file_that_cannot_be_run_is_told_and_not_replaced_by_the_demo() -> None:
    choice = chosen({"a": down(OLLAMA), "builtin": BROKEN_FILE, "demo": DEMO})
    assert shape(choice) == ("error", None, "builtin")


@pytest.mark.parametrize(
    ("url", "state", "guide"),
    [
        (OLLAMA, "needs-local-model", "ollama"),
        (LMSTUDIO, "needs-local-model", "lmstudio"),
        (OTHER, "needs-local-model", "ollama"),
        (CLOUD, "error", "cloud"),
    ],
)
def test_a_named_provider_that_is_down_is_told_and_never_replaced(url: str, state: str, guide: str) -> None:
    choice = chosen({"p": down(url), "builtin": DEMO}, provider="p", model="m")
    assert shape(choice) == (state, None, guide)
    assert choice.pick == Pick("p", "m")


def test_a_named_provider_without_its_key_is_told() -> None:
    missing = Offer(None, PetError("provider_auth", "models.nothing_connected"))
    choice = chosen({"p": missing}, provider="p", model="m")
    assert shape(choice) == ("error", None, "cloud")
    assert choice.pick is None


def test_a_named_provider_answers_with_its_first_chat_model() -> None:
    choice = chosen({"p": offer(CLOUD, EMBEDDING, CHAT)}, provider="p")
    assert choice.pick == Pick("p", "chatty")
    assert choice.settled
    assert shape(chosen({"p": offer(CLOUD)}, provider="p")) == ("model-selection", None, "cloud")


def test_a_model_that_a_list_lacks_is_asked_for_all_the_same() -> None:
    assert chosen({"p": offer(CLOUD, CHAT)}, provider="p", model="alias").pick == Pick("p", "alias")


def test_a_model_that_ollama_lacks_is_missing() -> None:
    choice = chosen({"p": offer(OLLAMA, CHAT, flavour="ollama")}, provider="p", model="qwen3")
    assert shape(choice) == ("model-selection", None, "ollama")
    assert choice.connection.error is not None
    assert "ollama pull qwen3" in (choice.connection.error.hint("en") or "")


def test_a_named_builtin_provider_without_the_engine_needs_a_local_model() -> None:
    assert shape(chosen({"p": NO_ENGINE}, provider="p")) == ("needs-local-model", None, "builtin")
    assert shape(chosen({"p": BROKEN_FILE}, provider="p")) == ("error", None, "builtin")
    assert shape(chosen({"p": DEMO}, provider="p")) == ("ready", "demo", None)


def test_without_a_tool_role_the_chat_role_does_its_work() -> None:
    offers = {"p": offer(CLOUD, CHAT), "q": offer(OLLAMA, CHAT)}
    chat = chosen(offers, provider="p")
    assert choose_other(config(), "tool", chat, offers) is chat
    named = config(tool={"provider": "q", "model": "small"})
    assert choose_other(named, "tool", chat, offers).pick == Pick("q", "small")
    same = config(tool={"model": "small"})
    assert choose_other(same, "tool", chat, offers).pick == Pick("p", "small")


def test_without_a_vision_role_nobody_sees() -> None:
    offers = {"p": offer(CLOUD, CHAT)}
    choice = choose_other(config(), "vision", chosen(offers, provider="p"), offers)
    assert choice.pick is None
    assert choice.connection.error is not None
    assert choice.connection.error.code == "needs_model"


def test_a_local_server_that_is_not_ollama_is_given_no_advice_about_ollama() -> None:
    for url, flavour, named in ((OTHER, None, False), (OTHER, "llamacpp", False), (OLLAMA, None, True)):
        error = chosen({"p": offer(url, EMBEDDING, flavour=flavour)}, provider="p").connection.error
        assert error is not None
        assert ("ollama" in (error.hint("en") or "")) is named
