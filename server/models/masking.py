"""Keys and private details are taken out of whatever a provider says before anybody reads it."""

from __future__ import annotations

import re

MASK = "•••"
MAX_QUOTE = 200

_KEYS = re.compile(
    r"""
    \b(?:sk|pk|rk|xai|gsk|hf|ghp|gho|tvly|pplx|nvapi|key)[-_][A-Za-z0-9*._-]{6,}
    | \bAIza[0-9A-Za-z_-]{10,}
    | \beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_.-]+
    | (?<=bearer\ )[^\s"',;]{6,}
    | (?<=api_key=)[^\s&"',;]{3,} | (?<=apikey=)[^\s&"',;]{3,} | (?<=\bkey=)[^\s&"',;]{3,}
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+@")
_PATH = re.compile(
    r"""(?<![\w:/.\\])/(?:[\w.@~+-]+/)+[\w.@~+-]* | \b[A-Za-z]:\\(?:[^\\\s"']+\\)*[^\\\s"']+""", re.VERBOSE
)
_TAGS = re.compile(r"<(script|style|head)\b.*?</\1\s*>|<[^<>]{1,500}>", re.IGNORECASE | re.DOTALL)


def mask_secrets(text: str, *known: str | None) -> str:
    """``text`` without anything that looks like a key, and without the ``known`` ones."""
    for secret in known:
        if secret and len(secret) >= 4:
            text = text.replace(secret, MASK)
    return _CREDENTIALS.sub("", _KEYS.sub(MASK, text))


def quotable(text: str, *known: str | None) -> str:
    """A provider's own words, fit to be shown: one line of at most ``MAX_QUOTE`` characters, no key, no
    markup, and of a path only its last part."""
    text = _TAGS.sub(" ", text[:20_000])
    text = mask_secrets(text, *known)
    text = _PATH.sub(lambda match: re.split(r"[/\\]", match.group())[-1], text)
    text = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return text if len(text) <= MAX_QUOTE else text[: MAX_QUOTE - 1].rstrip() + "…"
