import pytest

from server.models.masking import MAX_QUOTE, mask_secrets, quotable


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdEFGH1234567890",
        "sk-or-v1-0123456789abcdef",
        "AIzaSyA1234567890abcdefghijk",
        "gsk_abcdefghijklmnop",
        "hf_abcdefghijklmnop",
        "sk-abc*****xyz",
    ],
)
def test_whatever_looks_like_a_key_is_masked(secret: str) -> None:
    assert secret not in mask_secrets(f"Incorrect API key provided: {secret}, see the manual")


def test_a_known_key_is_masked_whatever_it_looks_like() -> None:
    assert "hunter22" not in mask_secrets("key hunter22 is wrong", "hunter22", None)


def test_keys_in_headers_and_addresses_are_masked() -> None:
    text = mask_secrets("Authorization: Bearer abcdef123456 at https://me:pw@host/?api_key=topsecret&x=1")
    assert "abcdef123456" not in text
    assert "pw@" not in text
    assert "topsecret" not in text
    assert "x=1" in text


def test_words_of_a_provider_are_one_short_line_without_markup_and_paths() -> None:
    text = quotable(
        "<html><head><title>no</title></head><h1>502\nBad  Gateway</h1> /opt/models/qwen/a.gguf "
        + r"C:\Users\me\b.gguf"
    )
    assert text == "502 Bad Gateway a.gguf b.gguf"
    assert len(quotable("word " * 1000)) <= MAX_QUOTE


def test_web_addresses_in_a_providers_words_stay() -> None:
    assert quotable("see https://platform.openai.com/account/limits") == (
        "see https://platform.openai.com/account/limits"
    )
