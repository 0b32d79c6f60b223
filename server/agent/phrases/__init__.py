"""The phrases that the rules know, in both languages, as tables of regular expressions."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from typing import Any


def table(name: str) -> dict[str, Any]:
    """The content of ``NAME.toml`` beside this file."""
    return tomllib.loads(files("server.agent.phrases").joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    """One pattern for all of them; case is ignored."""
    return re.compile("(?i)" + "|".join(f"(?:{pattern})" for pattern in patterns))
