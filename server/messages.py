"""Every sentence that the server says to its user, in English and Chinese.

The texts lie in ``server/texts/*.toml``, one file a subject, each entry ``key = { en = "…", zh = "…" }``.
They name what happened and what to do; a product fault is stated as a product fault.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from server.protocol import Locale


@cache
def _catalogue() -> dict[str, dict[str, str]]:
    texts: dict[str, dict[str, str]] = {}
    for entry in files("server").joinpath("texts").iterdir():
        if entry.name.endswith(".toml"):
            subject = entry.name.removesuffix(".toml")
            for key, value in tomllib.loads(entry.read_text(encoding="utf-8")).items():
                texts[f"{subject}.{key}"] = value
    return texts


def render(key: str, locale: Locale, **params: str | int | float) -> str:
    """The text ``subject.key`` in ``locale`` with its ``{parameters}`` filled in.

    Raises:
        KeyError: no such text, or a parameter that the text names is missing.
    """
    return _catalogue()[key]["zh" if locale == "zh-CN" else "en"].format(**params)
