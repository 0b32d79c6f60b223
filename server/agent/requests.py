"""What asks for a fact from outside, by rule. The patterns lie in ``phrases/requests.toml``."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from server.agent.addresses import paths, urls, without_addresses
from server.agent.phrases import any_of, table

HEAD_CHARS: Final = 300
TAIL_CHARS: Final = 300
_STAND_IN: Final = " \ue000 "


def outside_requests(text: str) -> list[str]:
    """The rules that ``text`` meets, by name, in the order of the file; explicit addresses first.

    Of a long text only its beginning and its end count: what is wanted stands there, what was pasted between.
    """
    text = ends_of(text)
    reasons = []
    if urls(text):
        reasons.append("names a web address")
    if paths(text):
        reasons.append("names a file")
    idioms, rules = _patterns()
    plain = idioms.sub(_STAND_IN, without_addresses(text, _STAND_IN).replace("’", "'"))
    return reasons + [name for name, pattern in rules.items() if pattern.search(plain)]


def ends_of(text: str) -> str:
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"


@cache
def _patterns() -> tuple[re.Pattern[str], dict[str, re.Pattern[str]]]:
    tables = table("requests")
    return any_of(tables["idioms"]), {name: any_of(patterns) for name, patterns in tables["rules"].items()}
