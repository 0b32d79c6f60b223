import pytest

from server.masking import MASK, MAX_QUOTE, is_secret_name, last_words, mask_secrets, quotable


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdEFGH1234567890",
        "sk-or-v1-0123456789abcdef",
        "AIzaSyA1234567890abcdefghijk",
        "gsk_abcdefghijklmnop",
        "hf_abcdefghijklmnop",
        "sk-abc*****xyz",
        "sk_live_abcdefgh12345678",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz",
        "AKIAIOSFODNN7EXAMPLE",
        "\\nsk-proj-abcdEFGH1234567890",
        "xoxb-1234567890-abcdefghij",
        "tvly-dev-abcdefghijklmnop123",
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


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("OPENAI_API_KEY=abcdefgh", "abcdefgh"),
        ("export DB_PASSWORD = hunter22\nPORT=80", "hunter22"),
        ("- SESSION_SECRET=hunter22", "hunter22"),
        ('{"password": "hunter22", "user": "me"}', "hunter22"),
        ("api_key = 'hunter22'", "hunter22"),
        ("AUTH_TOKEN: hunter22", "hunter22"),
        ('STRIPE_KEY = "hunter22"', "hunter22"),
        ('{"content": "PORT=80\\nTOKEN=hunter22"}', "hunter22"),
        ('{"content": "{\\"password\\": \\"hunter22\\"}"}', "hunter22"),
        ('{"content": "TOKEN=hunter22\\nPORT=80"}', "hunter22"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIhunter22\n-----END RSA PRIVATE KEY-----", "hunter22"),
        ("-----BEGIN PRIVATE KEY-----\nMIIhunter22\ncut off", "hunter22"),
    ],
)
def test_the_value_of_a_secret_looking_name_is_masked_and_the_name_stays(text: str, secret: str) -> None:
    masked = mask_secrets(text)
    assert secret not in masked
    assert MASK in masked
    if "=" in text:
        assert masked.startswith(text.split("=")[0].strip())


@pytest.mark.parametrize(
    "text",
    [
        "def key_error_handler(key, hf_hub_download):",
        "sorted(items, key=lambda item: item.name)",
        'API_KEY = os.environ["API_KEY"]',
        "api_key = get_key('x')",
        "MAX_TOKENS = 4096",
        "the sk-learn-style interface",
        "sorted(rows, sort_key='name')",
        'api_key = "env:OPENAI_API_KEY"',
        "TOKEN=$OTHER_TOKEN",
        "token: str | None = None",
        "git commit 0123456789abcdef0123456789abcdef01234567",
    ],
)
def test_code_and_plain_words_are_not_taken_for_secrets(text: str) -> None:
    assert mask_secrets(text) == text


def test_the_last_words_of_a_program_are_its_end_without_folders_and_keys() -> None:
    said = "noise\n" * 5000 + "File /home/me/srv/run.py failed\x1b[0m\n\nTOKEN=hunter22\n"
    shown = last_words(said, 60)
    assert len(shown) <= 60
    assert shown.startswith("…")
    assert shown.endswith("File run.py failed [0m\nTOKEN=•••")


def test_names_of_variables_that_hold_secrets_are_known() -> None:
    assert all(map(is_secret_name, ("GITHUB_TOKEN", "api_key", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY")))
    assert not any(map(is_secret_name, ("LANG", "PORT", "MONKEY", "KUBECONFIG")))


@pytest.mark.parametrize(
    "text",
    [
        "sk-" * 60_000,
        "A_" * 90_000,
        "-----BEGIN PRIVATE KEY" * 9_000,
        "a@" * 90_000,
        "x/" * 90_000,
        "pwd" * 60_000,
    ],
)
@pytest.mark.timeout(20)
def test_hostile_text_is_masked_in_linear_time(text: str) -> None:
    mask_secrets(text)
    last_words(text, 2000)
