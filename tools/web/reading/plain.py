"""Text that needs no parser: plain text, JSON, XML, source code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tools.web.address import normalise
from tools.web.decode import to_text
from tools.web.reading import MAX_LINKS, MAX_TEXT, Reading, Unreadable

_URL: Final = re.compile(r"""https?://[^\s<>"'`\\|{}^，。；、）】》”]{1,2000}""", re.IGNORECASE)
_STOPS: Final = ".,;:!?*_"
_ODD_SHARE: Final = 0.02


def read_plain(body: bytes, charset: str | None) -> Reading:
    """
    Raises:
        Unreadable: it isn't text.
    """
    text = to_text(body, charset)
    sample = text[:20_000]
    odd = sum(1 for char in sample if char == "\ufffd" or (char < " " and char not in "\t\n\r\f\x1b"))
    if "\0" in sample or odd > len(sample) * _ODD_SHARE:
        raise Unreadable("isn't text, whatever it says")
    return Reading("", text[:MAX_TEXT].strip(), list(_links(text[:MAX_TEXT])), cut=len(text) > MAX_TEXT)


def _links(text: str) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for match in _URL.finditer(text):
        url = _without_the_sentence(match[0])
        address = normalise(url.replace("&amp;", "&"))
        if address is not None and address not in seen:
            seen.add(address)
            yield "", address
            if len(seen) == MAX_LINKS:
                return


def _without_the_sentence(url: str) -> str:
    """``url`` without the punctuation that ends the sentence around it, brackets closed but never opened
    included."""
    url = url.rstrip(_STOPS)
    for opening, closing in ("()", "[]"):
        spare = url.count(closing) - url.count(opening)
        while spare > 0 and url.endswith(closing):
            url = url[:-1].rstrip(_STOPS)
            spare -= 1
    return url
