import pytest

from server.models.address import (
    host_and_port,
    is_loopback,
    may_be_local_server,
    native_root,
    normalise_base_url,
)


@pytest.mark.parametrize(
    ("typed", "base_url"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1"),
        (" http://127.0.0.1:11434/v1/ ", "http://127.0.0.1:11434/v1"),
        ("https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/models", "https://api.openai.com/v1"),
        ("https://api.example.com/chat/completions", "https://api.example.com/v1"),
        ("https://api.deepseek.com", "https://api.deepseek.com/v1"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
        ("https://g.example/v1beta/openai/", "https://g.example/v1beta/openai"),
        ("https://h.example/v1?region=eu#top", "https://h.example/v1"),
        ("localhost:1234", "http://localhost:1234/v1"),
        ("192.168.1.7:8080", "http://192.168.1.7:8080/v1"),
        ("api.example.com", "https://api.example.com/v1"),
        ("http://[::1]:8080", "http://[::1]:8080/v1"),
    ],
)
def test_an_address_becomes_its_base_however_it_was_typed(typed: str, base_url: str) -> None:
    assert normalise_base_url(typed) == base_url
    assert normalise_base_url(base_url) == base_url


@pytest.mark.parametrize("typed", ["", "ftp://host/v1", "http://", "http://host:99999"])
def test_what_is_no_address_is_refused(typed: str) -> None:
    with pytest.raises(ValueError, match=r"address|[Pp]ort"):
        normalise_base_url(typed)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/v1",
        "http://127.8.9.1",
        "http://localhost/v1",
        "http://LOCALHOST.",
        "http://[::1]:2",
        "http://[::ffff:127.0.0.1]:2",
        "http://0.0.0.0:3",
        "http://pet.localhost",
    ],
)
def test_this_machine_is_known_by_all_its_names(url: str) -> None:
    assert is_loopback(url)


@pytest.mark.parametrize("url", ["https://api.openai.com", "http://192.168.1.7", "http://localhost.evil.com"])
def test_other_machines_are_not_this_one(url: str) -> None:
    assert not is_loopback(url)


def test_only_addresses_of_the_users_own_are_asked_for_native_endpoints() -> None:
    assert may_be_local_server("http://nas:11434/v1")
    assert may_be_local_server("https://192.168.1.7/v1")
    assert not may_be_local_server("https://api.openai.com/v1")


def test_the_native_api_lies_beside_v1() -> None:
    assert native_root("http://127.0.0.1:11434/v1") == "http://127.0.0.1:11434"


def test_an_address_is_shown_without_path_and_credentials() -> None:
    assert host_and_port("https://user:secret@[::1]:8443/v1/x") == "[::1]:8443"
