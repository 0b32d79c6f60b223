"""HTML to text: the main part where one can be found, else all of the text in blocks."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any, Final

from tools.web.address import BadAddress, join
from tools.web.decode import to_text
from tools.web.reading import MAX_LINKS, MAX_TEXT, MAX_TITLE, Reading

# Without type information of its own.
etree: Any = importlib.import_module("lxml.etree")
lxml_html: Any = importlib.import_module("lxml.html")

MAX_ELEMENTS: Final = 20_000
"""Beyond that many the main part isn't looked for, which would take more than a second."""
SHORT: Final = 1500
"""Up to that many characters a page is given whole, without looking for its main part."""
SMALL_SHARE: Final = 4
"""A main part of less than a quarter of even a short page was found wrongly."""
_UNSEEN: Final = frozenset({"script", "style", "noscript", "template", "svg", "head", "iframe", "object"})
_IN_LINE: Final = re.compile(
    r"a|abbr|b|bdi|bdo|cite|code|data|del|dfn|em|font|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|time|u"
    r"|var|wbr"
)


def read_html(body: bytes, url: str, charset: str | None) -> Reading:
    """The page that lies at ``url`` (normalised)."""
    # The parser ends at a NUL. Its own guess of the character set would be worse than ours.
    markup = to_text(body, charset).replace("\0", "")
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        tree = lxml_html.document_fromstring(markup.encode("utf-8", "replace"), parser=parser)
    except (etree.LxmlError, ValueError):  # nothing in it
        return Reading("", "")
    title = _one_line(tree.findtext(".//title") or "", MAX_TITLE)
    links = list(_links(tree, url))
    text = _whole(tree)
    if len(text) > SHORT and sum(1 for _ in tree.iter()) <= MAX_ELEMENTS:
        main = _main_part(markup, url)
        if len(main) * SMALL_SHARE >= min(len(text), SHORT):
            text = main
    return Reading(title, text[:MAX_TEXT], links, cut=len(text) > MAX_TEXT)


def _main_part(markup: str, url: str) -> str:
    import trafilatura

    try:
        found = trafilatura.extract(
            markup, url=url, fast=True, output_format="markdown", include_comments=True, include_tables=True
        )
    except Exception:  # it raises whatever its parts raise on odd pages; all of the text is left to us
        return ""
    return (found or "").strip()


def _whole(tree: Any) -> str:
    """The text of all that is seen, a line a block."""
    pieces: list[str] = []
    skipped = None
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        name = element.tag
        if event == "start":
            if skipped is None and name in _UNSEEN:
                skipped = element
            if skipped is None:
                if not _IN_LINE.fullmatch(name):
                    pieces.append("\n")
                pieces.append(element.text or "")
        else:
            if element is skipped:
                skipped = None
            if skipped is None:
                if not _IN_LINE.fullmatch(name):
                    pieces.append("\n")
                pieces.append(element.tail or "")
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return "\n".join(line for line in lines if line)


def _links(tree: Any, url: str) -> Iterator[tuple[str, str]]:
    base = _base(tree, url)
    seen = {url}
    roots = [*tree.iter("main", "article"), tree]
    for anchor in (anchor for root in roots for anchor in root.iter("a")):
        reference = anchor.get("href", "").strip()
        if not reference or reference.startswith("#"):
            continue
        try:
            address = join(base, reference)
        except BadAddress:
            continue
        if address not in seen:
            seen.add(address)
            yield _one_line(anchor.text_content(), 80), address
            if len(seen) > MAX_LINKS:
                return


def _base(tree: Any, url: str) -> str:
    for element in tree.iter("base"):
        try:
            return join(url, element.get("href", ""))
        except BadAddress:
            break
    return url


def _one_line(text: str, limit: int) -> str:
    return " ".join(text[: limit * 4].split())[:limit]
