"""What went wrong at a provider, as a :class:`PetError` that says what to do. No I/O.

A provider's own words are quoted only masked and shortened (:mod:`server.masking`).
"""

from __future__ import annotations

import json
import math
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from server.errors import PetError
from server.masking import quotable
from server.models.address import host_and_port
from server.models.provider import Flavour, Provider, server_of
from server.protocol import Guide

_OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context|context (?:size|length|window)"
    r"|prompt is too long|too many (?:input )?tokens|input (?:is )?too long|input token count"
    r"|reduce the length|tokens to keep from the initial prompt|string_above_max_length|request too large",
    re.IGNORECASE,
)
_UNKNOWN_MODEL = re.compile(
    r"model_not_found|model\b.{0,120}?(?:not found|not exist|n't exist|no such|is not a valid|not available)"
    r"|(?:unknown|invalid|no such) model|not a valid model",
    re.IGNORECASE | re.DOTALL,
)
_NO_CREDIT = re.compile(
    r"insufficient_quota|insufficient balance|exceeded your current quota|credit", re.IGNORECASE
)
_LONGEST_WAIT_S = 86_400.0
_LOADING = re.compile(r"loading model|model is (?:still )?loading|unavailable_error", re.IGNORECASE)


class HttpRefusal(Exception):
    """An HTTP status of 400 or more. ``body`` is its text; header names are lower case."""

    def __init__(self, status: int, headers: Mapping[str, str], body: str) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.headers = headers
        self.body = body


class TransportFailure(Exception):
    """No connection, or a broken one; ``__cause__`` is the reason.

    Attributes:
        timed_out: nothing came in time.
        broke_off: there was a connection, and it ended without an answer: perhaps one that was kept from an
            earlier request and that the other side gave up at this very moment.
    """

    def __init__(self, *, timed_out: bool = False, broke_off: bool = False) -> None:
        super().__init__("no connection")
        self.timed_out = timed_out
        self.broke_off = broke_off


@dataclass(frozen=True, slots=True)
class Asked:
    """Who was asked for what, for the words of an error."""

    provider: Provider
    model: str = ""
    flavour: Flavour | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        return self.provider.name

    def quote(self, words: str) -> str:
        return quotable(words, self.provider.key, *self.secrets)


def says_overflow(told: str) -> bool:
    return _OVERFLOW.search(told) is not None


def says_unknown_model(told: str) -> bool:
    return _UNKNOWN_MODEL.search(told) is not None


def status_failure(asked: Asked, refusal: HttpRefusal, now: datetime | None = None) -> PetError:
    """The error for an HTTP status."""
    status, told = refusal.status, f"{refusal.body[:20_000]}"
    detail = asked.quote(words_of(refusal.body))
    if status in (400, 413, 422, 500) and (_OVERFLOW.search(told) or status == 413):
        return overflow(asked)
    if status in (401, 403):
        return _auth(asked, status, detail)
    if status == 404 or (status in (400, 422) and _UNKNOWN_MODEL.search(told)):
        return unknown_model(asked, detail)
    if status in (402, 429):
        return _limited(asked, refusal, now)
    if status == 503 and _LOADING.search(told):
        return PetError(
            "provider_error", "models.loading", hint="models.wait", retryable=True, provider=asked.name
        )
    kind = "failed" if status >= 500 or status == 408 else "refused"
    return PetError(
        "provider_error",
        f"models.{kind}_detail" if detail else f"models.{kind}",
        hint="models.retry",
        retryable=kind == "failed",
        provider=asked.name,
        status=status,
        detail=detail,
    )


def unreachable(asked: Asked, failure: TransportFailure) -> PetError:
    """The error for a connection that couldn't be made or gave nothing."""
    text = "models.unreachable"
    for cause in _causes(failure):
        if isinstance(cause, ssl.SSLError) or "CERTIFICATE_VERIFY_FAILED" in str(cause):
            text = "models.unreachable_tls"
        elif isinstance(cause, socket.gaierror):
            text = "models.unreachable_dns"
    if failure.timed_out:
        text = "models.unreachable_timeout"
    hints: dict[Guide | None, str] = {
        "ollama": "models.start_ollama",
        "lmstudio": "models.start_lmstudio",
        "builtin": "models.check_builtin",
    }
    other = "models.start_server" if asked.provider.local else "models.check_connection"
    address = host_and_port(asked.provider.base_url) if asked.provider.base_url else asked.name
    return PetError(
        "provider_unreachable",
        text,
        hint=hints.get(server_of(asked.provider, asked.flavour), other),
        retryable=True,
        provider=asked.name,
        address=address,
    )


def reported_in_stream(asked: Asked, body: Mapping[str, Any], *, shown: bool) -> PetError:
    """The error for a failure that came with HTTP 200, inside the stream."""
    text = json.dumps(body, ensure_ascii=False)
    if shown:
        return interrupted(asked, words_of(text))
    if _OVERFLOW.search(text):
        return overflow(asked)
    error = body.get("error")
    code = error.get("code") if isinstance(error, dict) else body.get("code")
    if isinstance(code, int) and 400 <= code < 600:
        return status_failure(asked, HttpRefusal(code, {}, text))
    detail = asked.quote(words_of(text))
    return PetError(
        "provider_error",
        "models.failed_in_stream" if detail else "models.no_stream",
        hint="models.retry",
        retryable=True,
        provider=asked.name,
        detail=detail,
    )


def interrupted(asked: Asked, words: str = "") -> PetError:
    detail = asked.quote(words)
    return PetError(
        "stream_interrupted",
        "models.interrupted_detail" if detail else "models.interrupted",
        hint="models.retry",
        retryable=True,
        provider=asked.name,
        detail=detail,
    )


def stalled(asked: Asked, seconds: float) -> PetError:
    return PetError(
        "stream_interrupted",
        "models.stalled",
        hint="models.retry",
        retryable=True,
        provider=asked.name,
        seconds=round(seconds),
    )


def unreadable(asked: Asked) -> PetError:
    return PetError(
        "provider_error", "models.no_stream", hint="models.retry", retryable=True, provider=asked.name
    )


def overflow(asked: Asked) -> PetError:
    return PetError(
        "context_overflow",
        "models.context_overflow",
        hint="models.shorten",
        model=asked.model or asked.name,
        provider=asked.name,
    )


def unknown_model(asked: Asked, detail: str = "") -> PetError:
    local_pull = server_of(asked.provider, asked.flavour) == "ollama"
    return PetError(
        "needs_model",
        "models.model_unknown_detail" if detail else "models.model_unknown",
        hint="models.pull_model" if local_pull else "models.choose_model",
        provider=asked.name,
        model=asked.model,
        detail=detail,
    )


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait as the headers say it (milliseconds, seconds or a date), a day at most; None where
    they don't."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * scale
        except ValueError:
            continue
        if math.isfinite(seconds):
            return min(max(0.0, seconds), _LONGEST_WAIT_S)
    try:
        at = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return min(max(0.0, (at - (now or datetime.now(UTC))).total_seconds()), _LONGEST_WAIT_S)


def words_of(body: str) -> str:
    """The sentence in an error body, whichever of the known shapes it has."""
    try:
        data: Any = json.loads(body)
    except (ValueError, RecursionError):
        return body
    for _ in range(4):
        if isinstance(data, list) and data:
            data = data[0]
        if not isinstance(data, dict):
            break
        for key in ("error", "message", "detail", "msg"):
            if data.get(key):
                data = data[key]
                break
        else:
            return ""
    return data if isinstance(data, str) else ""


def _auth(asked: Asked, status: int, detail: str) -> PetError:
    if status == 403 and detail and asked.provider.key:
        text = "models.forbidden"
    elif not asked.provider.key:
        text = "models.auth_missing"
    else:
        text = "models.auth_refused_detail" if detail else "models.auth_refused"
    return PetError("provider_auth", text, hint="models.check_key", provider=asked.name, detail=detail)


def _limited(asked: Asked, refusal: HttpRefusal, now: datetime | None) -> PetError:
    wait = retry_after(refusal.headers, now)
    if refusal.status == 402 or (wait is None and _NO_CREDIT.search(refusal.body[:20_000])):
        return PetError(
            "provider_rate_limited", "models.no_credit", hint="models.add_credit", provider=asked.name
        )
    text, amount = _wait_in_words(wait or 0)
    return PetError(
        "provider_rate_limited",
        text,
        hint="models.wait",
        retryable=True,
        retry_after_s=wait,
        provider=asked.name,
        amount=amount,
    )


def _wait_in_words(seconds: float) -> tuple[str, int]:
    """The text for a wait, and the number that it names."""
    if seconds <= 0:
        return "models.rate_limited", 0
    if seconds >= _LONGEST_WAIT_S:
        return "models.rate_limited_tomorrow", 0
    for text, unit_s in (("models.rate_limited_hours", 3600), ("models.rate_limited_minutes", 60)):
        if seconds > 2 * unit_s:
            return text, math.ceil(seconds / unit_s)
    return "models.rate_limited_seconds", math.ceil(seconds)


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    for _ in range(10):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__ or seen.__context__
