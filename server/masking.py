"""Keys and private details are taken out of whatever comes from outside before a model or a person reads it.

Pure functions. Tool results, providers' errors, servers' last words and the log all pass here.
"""

from __future__ import annotations

import re
from typing import Final

MASK: Final = "•••"
MAX_QUOTE: Final = 200

_KEYS = re.compile(
    r"""
    (?:\b|(?<=\\[nrt]))(?:
      sk-(?=[a-z0-9_.-]{0,200}[0-9*]|[a-z0-9-]{12})[a-z0-9*._-]{6,}
      | (?:sk|pk|rk)_(?:live|test)_[a-z0-9]{8,}
      | (?:pk|rk|xai|gsk|hf|gh[oprsu]|npm|tvly|pplx|nvapi|key)[-_]
        (?=[a-z0-9*._-]{0,200}[0-9*]|[a-z0-9]{16})[a-z0-9*._-]{16,}
      | (?:github_pat_|glpat-|pypi-|xox[abeoprs]-)[a-z0-9_-]{10,}
      | (?:AKIA|ASIA)[0-9A-Z]{16}\b
      | AIza[0-9A-Za-z_-]{10,}
      | eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_.-]+
    )
    | (?<=bearer\ )[^\s"',;]{6,}
    | (?<=api_key=)[^\s&"',;]{3,} | (?<=apikey=)[^\s&"',;]{3,} | (?<=\bkey=)[^\s&"',;()]{16,}
    | -----BEGIN\ [A-Z\ ]{0,30}PRIVATE\ KEY-----[^-]*(?:-----END\ [A-Z\ ]{0,40}-----)?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_KEY_HINTS: Final = (
    *("sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "xai-", "xai_", "gsk-", "gsk_", "hf-", "hf_", "npm-", "npm_"),
    *("gho", "ghp", "ghr", "ghs", "ghu", "tvly", "pplx", "nvapi", "key-", "key_", "key=", "github_pat_"),
    *("glpat-", "pypi-", "xox", "akia", "asia", "aiza", "eyj", "bearer ", "-----begin "),
)
"""What every match of ``_KEYS`` holds: looking for these first costs a hundredth."""
_NAME_HINTS: Final = ("key", "token", "secret", "pass", "pwd", "credentials")
_ASSIGNED = re.compile(
    r"""
    (?:(?<![A-Za-z0-9_])|(?<=\\[nrt])) (?:[A-Z0-9_]{0,60}_)?
    (?:APIKEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS)
    [ \t]{0,3} [=:] [ \t]{0,3}
    (?!env:|true\b|false\b|none\b) (?P<value> [^\s"'\\$<>(){}\[\],;]{4,} ) (?= [\s,;"'\\}] | \Z)
    """,
    re.VERBOSE,
)
"""A secret-looking name in capitals and its bare value, as in ``.env`` files; code on the right stays."""

_QUOTED = re.compile(
    r"""
    (?:(?<![a-z0-9_])|(?<=\\[nrt]))
    (?: (?:[a-z0-9_-]{0,60}[_-])?
        (?:(?:api|access|secret|private|auth)[_-]?key|apikey|token|secret
           |password|passwd|passphrase|pwd|credentials)
        | (?-i:[A-Z0-9_]{1,60}_KEY)
    )
    (?:\\{0,3}["'])? [ \t]{0,3} [=:] [ \t]{0,3}
    (?: \\{0,3}"(?!env:|\$)(?P<double> [^"\\\s]{4,} )\\{0,3}"
      | \\{0,3}'(?!env:|\$)(?P<single> [^'\\\s]{4,} )\\{0,3}' )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""The same with the value in quotation marks, as in JSON, YAML and TOML, also inside a JSON string."""

_SECRET_NAME = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASS|PWD|AUTH)|PASSW|APIKEY|CREDENTIAL", re.IGNORECASE)
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]{1,200}@")
_PATH = re.compile(
    r"""(?<![\w:/.\\])/(?:[\w.@~+-]+/)+[\w.@~+-]* | \b[A-Za-z]:\\(?:[^\\\s"']+\\)*[^\\\s"']+""", re.VERBOSE
)
_TAGS = re.compile(r"<(script|style|head)\b.*?</\1\s*>|<[^<>]{1,500}>", re.IGNORECASE | re.DOTALL)


def mask_secrets(text: str, *known: str | None) -> str:
    """``text`` without anything that looks like a key, without the values of secret-looking names, and
    without the ``known`` ones."""
    for secret in known:
        if secret and len(secret) >= 4:
            text = text.replace(secret, MASK)
    lower = text.lower()
    if any(hint in lower for hint in _KEY_HINTS):
        text = _KEYS.sub(MASK, text)
    if any(hint in lower for hint in _NAME_HINTS):
        text = _ASSIGNED.sub(_masked_value, text)
        text = _QUOTED.sub(_masked_value, text)
    return _CREDENTIALS.sub("", text) if "://" in text else text


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name probably holds a secret."""
    return _SECRET_NAME.search(name) is not None


def quotable(text: str, *known: str | None) -> str:
    """A provider's own words, fit to be shown: one line of at most ``MAX_QUOTE`` characters, no key, no
    markup, and of a path only its last part."""
    text = mask_secrets(_TAGS.sub(" ", text[:20_000]), *known)
    text = " ".join(_printable(without_folders(text)).split())
    return text if len(text) <= MAX_QUOTE else text[: MAX_QUOTE - 1].rstrip() + "…"


def last_words(text: str, max_chars: int, *known: str | None) -> str:
    """The end of what a program wrote, fit to be shown: at most ``max_chars`` characters, no key, no empty
    line, and of a path only its last part."""
    text = without_folders(mask_secrets(text[-4 * max_chars :], *known))
    lines = [line for line in (_printable(line).strip() for line in text.splitlines()) if line]
    shown = "\n".join(lines)
    return shown if len(shown) <= max_chars else "…" + shown[1 - max_chars :]


def without_folders(text: str) -> str:
    """``text`` with every absolute path cut to its last part."""
    return _PATH.sub(lambda match: re.split(r"[/\\]", match.group().rstrip("/\\"))[-1], text)


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)


def _masked_value(match: re.Match[str]) -> str:
    start, end = next(span for group in match.groupdict() if (span := match.span(group)) != (-1, -1))
    whole, offset = match.group(), match.start()
    return whole[: start - offset] + MASK + whole[end - offset :]
