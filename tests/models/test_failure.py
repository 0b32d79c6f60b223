import json
import socket
import ssl
from datetime import UTC, datetime

import pytest

from server.errors import PetError
from server.models.failure import (
    Asked,
    HttpRefusal,
    TransportFailure,
    reported_in_stream,
    retry_after,
    status_failure,
    unreachable,
    words_of,
)
from server.models.provider import Provider

KEY = "topsecretkey1234"
CLOUD = Asked(Provider("openai", "https://api.openai.com/v1", KEY), "gpt-x")
OLLAMA = Asked(Provider("ollama", "http://127.0.0.1:11434/v1"), "qwen3")
LMSTUDIO = Asked(Provider("lmstudio", "http://127.0.0.1:1234/v1"), "qwen3")


def failure(status: int, told: object, asked: Asked = CLOUD) -> PetError:
    body = told if isinstance(told, str) else json.dumps(told)
    return status_failure(asked, HttpRefusal(status, {}, body))


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_is_told_with_where_to_change_it(status: int) -> None:
    error = failure(status, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
    assert error.code == "provider_auth"
    assert not error.retryable
    assert KEY not in error.message("en") + error.message("zh-CN") + str(error)
    assert "api_key" in (error.hint("en") or "")


def test_a_missing_key_is_told_apart_from_a_wrong_one() -> None:
    error = failure(401, "", Asked(Provider("openai", "https://api.openai.com/v1"), "gpt-x"))
    assert (error.code, error.text) == ("provider_auth", "models.auth_missing")


def test_an_unknown_model_is_told_with_the_command_that_gets_it() -> None:
    error = failure(404, {"error": {"message": "model 'qwen3' not found"}}, OLLAMA)
    assert error.code == "needs_model"
    assert "ollama pull qwen3" in (error.hint("en") or "")
    assert "/model" in (failure(404, "", CLOUD).hint("zh-CN") or "")


@pytest.mark.parametrize(
    "told", ["Model Not Exist", "x/y is not a valid model ID", "The model `x` does not exist"]
)
def test_an_unknown_model_may_come_as_400(told: str) -> None:
    assert failure(400, {"error": {"message": told}}).code == "needs_model"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"code": "context_length_exceeded", "message": "too long"}}),
        (400, {"error": {"message": "This model's maximum context length is 8192 tokens."}}),
        (
            400,
            {
                "error": {
                    "type": "exceed_context_size_error",
                    "message": "request (9 tokens) exceeds the "
                    "available context size (8 tokens), try increasing it",
                }
            },
        ),
        (400, {"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}),
        (400, {"error": "The number of tokens to keep from the initial prompt is greater than the context"}),
        (413, ""),
        (500, {"error": {"message": "the request exceeds the context size"}}),
    ],
)
def test_a_context_overflow_is_known_in_all_its_forms(status: int, body: object) -> None:
    assert failure(status, body).code == "context_overflow"


def test_too_many_requests_say_how_long_to_wait() -> None:
    error = status_failure(CLOUD, HttpRefusal(429, {"retry-after": "7"}, ""))
    assert (error.code, error.retry_after_s, error.retryable) == ("provider_rate_limited", 7.0, True)
    assert "7" in error.message("en")


def test_an_empty_account_is_no_matter_of_waiting() -> None:
    for error in (failure(429, {"error": {"code": "insufficient_quota"}}), failure(402, "")):
        assert error.code == "provider_rate_limited"
        assert not error.retryable


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Mon, 01 Jan 2026 00:00:30 GMT"}, 30.0),
        ({"retry-after": "Mon, 01 Jan 2024 00:00:00 GMT"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "2300174548"}, 86_400.0),
        ({"retry-after-ms": "1e300"}, 86_400.0),
        ({"retry-after": "Mon, 01 Jan 2099 00:00:00 GMT"}, 86_400.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_as_seconds_milliseconds_or_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers, datetime(2026, 1, 1, tzinfo=UTC)) == seconds


@pytest.mark.parametrize(
    ("wait", "words", "chinese"),
    [
        ("7", "for another 7 s.", "在 7 秒内"),
        ("120", "for another 120 s.", "在 120 秒内"),
        ("121", "for another 3 minutes.", "在 3 分钟内"),
        ("7200", "for another 120 minutes.", "在 120 分钟内"),
        ("86399", "for another 24 hours.", "在 24 小时内"),
        ("2300174548", "before tomorrow.", "明天之前"),
        ("0", "for now.", "暂时"),
    ],
)
def test_a_wait_is_told_in_words_that_people_use(wait: str, words: str, chinese: str) -> None:
    error = status_failure(CLOUD, HttpRefusal(429, {"retry-after": wait}, ""))
    assert error.message("en").endswith(words)
    assert chinese in error.message("zh-CN")


def test_a_failing_provider_is_quoted_without_markup() -> None:
    error = failure(502, "<html><h1>502 Bad Gateway</h1></html>")
    assert (error.code, error.retryable) == ("provider_error", True)
    assert "<" not in error.message("en")
    assert "502" in error.message("zh-CN")


def test_a_refusal_of_another_kind_is_not_worth_a_retry() -> None:
    error = failure(400, {"error": {"message": "messages: too few"}})
    assert (error.code, error.retryable) == ("provider_error", False)


def test_a_model_that_still_loads_is_said_to_load() -> None:
    assert failure(503, {"error": {"message": "Loading model"}}).text == "models.loading"


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        (ConnectionRefusedError(), "models.unreachable"),
        (socket.gaierror(-2, "unknown"), "models.unreachable_dns"),
        (ssl.SSLError("bad"), "models.unreachable_tls"),
    ],
)
def test_no_connection_says_why(cause: Exception, text: str) -> None:
    broken = TransportFailure()
    broken.__cause__ = cause
    error = unreachable(CLOUD, broken)
    assert (error.code, error.text, error.retryable) == ("provider_unreachable", text, True)


def test_no_connection_says_what_to_start() -> None:
    assert "ollama serve" in (unreachable(OLLAMA, TransportFailure()).hint("en") or "")
    assert "LM Studio" in (unreachable(LMSTUDIO, TransportFailure()).hint("zh-CN") or "")
    assert unreachable(OLLAMA, TransportFailure(timed_out=True)).text == "models.unreachable_timeout"


def test_a_server_that_may_be_any_is_not_taken_for_ollama() -> None:
    other = Asked(Provider("llamacpp", "http://127.0.0.1:8080/v1"), "qwen3")
    seen = Asked(Provider("mine", "http://127.0.0.1:11434/v1"), "qwen3", "llamacpp")
    assert "at 127.0.0.1:8080" in (unreachable(other, TransportFailure()).hint("en") or "")
    for asked in (other, seen):
        for error in (unreachable(asked, TransportFailure()), failure(404, {}, asked)):
            assert "ollama" not in (error.hint("en") or "ollama").lower()


def test_an_error_in_the_stream_is_what_it_would_be_outside() -> None:
    limited = {"error": {"code": 429, "message": "slow down"}}
    assert reported_in_stream(CLOUD, limited, shown=False).code == "provider_rate_limited"
    overflow = {"error": {"message": "maximum context length"}}
    assert reported_in_stream(CLOUD, overflow, shown=False).code == "context_overflow"
    assert reported_in_stream(CLOUD, {"error": "boom"}, shown=False).code == "provider_error"
    assert reported_in_stream(CLOUD, {"error": "boom"}, shown=True).code == "stream_interrupted"


@pytest.mark.parametrize(
    "body",
    [
        '{"error": {"message": "no"}}',
        '{"error": "no"}',
        '{"message": "no"}',
        '[{"error": {"message": "no"}}]',
        '{"detail": [{"msg": "no"}]}',
        "no",
    ],
)
def test_a_providers_sentence_is_found_in_every_shape(body: str) -> None:
    assert words_of(body) == "no"
