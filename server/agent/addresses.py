"""The web addresses and file paths that a text names outright."""

from __future__ import annotations

import re
from typing import Final

_URL: Final = re.compile(r"(?i)(?<![a-z0-9_])(?:https?://|www\.)[!#-;=?-_a-z~]++")
_URL_TAIL: Final = ".,;:!?'*_"
_CLOSERS: Final = {")": "(", "]": "["}

_EXTENSIONS: Final = (
    "py|pyi|ipynb|js|mjs|cjs|jsx|ts|tsx|vue|svelte|css|scss|less|html?|md|mdx|rst|txt|json5?|jsonl|ya?ml|toml|ini|cfg|conf"
    "|env|lock|xml|csv|tsv|log|sql|sh|bash|zsh|fish|ps1|bat|cmd|c|cc|cpp|cxx|h|hh|hpp|cs|go|rs|rb|php|java|kt|kts|swift"
    "|scala|lua|pl|r|jl|ex|exs|erl|hs|clj|dart|zig|proto|graphql|tf|gradle|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|webp|svg"
)
_NAMED: Final = rf"[\w.\-]*\.(?:{_EXTENSIONS})(?![A-Za-z0-9_])"
_PATH: Final = re.compile(
    r"(?i)(?<![A-Za-z0-9_/\\.:@-])"
    r"(?:"
    rf"[a-z]:\\(?:[\w.\- ]+\\)*+(?:{_NAMED}|[A-Za-z0-9_.\-]*)"  # C:\folder\file
    rf"|(?:~|\.\.?)?/(?:[\w.\-]+/)*(?:{_NAMED}|[A-Za-z0-9_.\-]+/?)"  # ./file, ~/file, /folder/file
    rf"|[A-Za-z0-9_.\-]+/(?:[\w.\-]+/)*{_NAMED}"  # folder/file.ext
    r"|[A-Za-z0-9_.\-]+/(?:[A-Za-z0-9_.\-]+/)++"  # folder/folder/
    rf"|[A-Za-z0-9_\-][A-Za-z0-9_.\-]*+(?<=\.)(?:{_EXTENSIONS})(?![A-Za-z0-9_])"
    rf"|[A-Za-z0-9_\-][A-Za-z0-9_.\-]*\.(?:{_EXTENSIONS})(?![A-Za-z0-9_])"  # file.ext
    r"|\.(?:env|gitignore|gitattributes|editorconfig|dockerignore)\b"
    r"|(?-i:Dockerfile|Makefile|README|LICENSE|CHANGELOG)\b(?![/.])"
    r")"
)
_LIBRARIES: Final = frozenset(
    f"{name}.js"
    for name in (
        *("node", "vue", "next", "nuxt", "three", "express", "d3", "p5", "react"),
        *("chart", "backbone", "ember", "moment", "alpine", "require"),
    )
)


def urls(text: str) -> list[str]:
    """The web addresses in ``text``, in order; one without a scheme gets ``https://``."""
    found = []
    for match in _URL.finditer(text):
        url = _trimmed(match.group())
        if "." in url or "localhost" in url:
            found.append(url if "://" in url[:8] else f"https://{url}")
    return found


def paths(text: str) -> list[str]:
    """The file paths in ``text``, in order: with a folder, or with an extension that files have.

    The name of a library (``Node.js``) is none, nor is anything inside a web address.
    """
    return [
        match.group()
        for match in _PATH.finditer(_URL.sub(" ", text))
        if match.group().lower() not in _LIBRARIES and len(match.group()) > 2
    ]


def without_addresses(text: str, stand_in: str = " ") -> str:
    """``text`` with each web address and path replaced."""
    return _PATH.sub(
        lambda match: match.group() if match.group().lower() in _LIBRARIES else stand_in,
        _URL.sub(stand_in, text),
    )


def _trimmed(url: str) -> str:
    """``url`` without the punctuation of the sentence around it."""
    while url:
        last = url[-1]
        opener = _CLOSERS.get(last)
        if last in _URL_TAIL or (opener is not None and url.count(last) > url.count(opener)):
            url = url[:-1]
        else:
            break
    return url
