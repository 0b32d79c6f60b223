"""``tool__web_fetch``: the text of one page, out of those that the conversation knows."""

from __future__ import annotations

import asyncio
import importlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from tools.contract import CallContext, ToolFailure, ToolInfo, ToolResult
from tools.threads import run_blocking
from tools.web.address import BadAddress, target_of, well_formed
from tools.web.networks import Borders
from tools.web.reading import Reading, Unreadable

if TYPE_CHECKING:
    from tools.web.download import Download, Downloader
    from tools.web.robots import Robots

NAME: Final = "tool__web_fetch"
MIN_CHARS: Final = 500
DEFAULT_CHARS: Final = 8_000
MAX_CHARS: Final = 20_000
SHOWN_LINKS: Final = 15
_ACCEPT: Final = "text/html, application/xhtml+xml, text/*, application/json, application/pdf, */*;q=0.5"
_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_TEXT: Final = re.compile(
    r"application/(?:.+\+)?(?:json|xml|yaml)|application/(?:x-)?(?:javascript|ecmascript|yaml|ndjson|sh|subrip)"
    r"|application/(?:toml|sql|graphql|x-httpd-php)|text/.+"
)
_UNSAID: Final = frozenset({"", "application/octet-stream", "binary/octet-stream"})

_Kind: TypeAlias = Literal["html", "pdf", "text", "unsaid"]

INFO: Final = ToolInfo(
    name=NAME,
    description=(
        "Reads one web page (HTML, text, JSON, PDF) and gives its text and links. Only addresses that the "
        "user wrote, that a search found or that a page read before links to."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "url": {"type": "string", "description": "whole address, with https:// or http://"},
            "max_chars": {
                "type": "integer",
                "minimum": MIN_CHARS,
                "maximum": MAX_CHARS,
                "description": f"how much of the text to give, {DEFAULT_CHARS} unless told",
            },
        },
        "required": ["url"],
        "additionalProperties": False,
    },
    hint=(
        "Page cut: a larger max_chars (12000 to 20000) or a more specific address. Blocked by robots.txt, or "
        "status 4xx or 5xx: report the status and ask for another address."
    ),
    max_result_chars=MAX_CHARS + 4_000,
)


class WebFetch:
    """Args:
    allow_private: gives ``[agent.web] allow_private`` as it is now.
    downloader: is asked for what does the requests, once, at first use; None = the one that goes out.
    """

    info: ToolInfo = INFO

    def __init__(
        self,
        allow_private: Callable[[], Collection[str]],
        downloader: Callable[[Callable[[], Borders]], Downloader] | None = None,
    ) -> None:
        self._allow_private = allow_private
        self._make = downloader
        self._ready: tuple[Downloader, Robots] | None = None

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        url = known(str(arguments["url"]), context.known_urls)
        limit = max(MIN_CHARS, min(int(arguments.get("max_chars") or DEFAULT_CHARS), MAX_CHARS))
        downloader, robots = await self._at_work()
        context.progress(note=target_of(url).host)

        async def before_hop(hop: str) -> None:
            await robots.check(hop, downloader)

        page = await downloader.get(url, accept=_ACCEPT, before_hop=before_hop, wanted=_wanted)
        try:
            reading = await _read(page)
        except Unreadable as error:
            raise ToolFailure(f"The page of {target_of(page.url).host} {error}.") from error
        if not reading.text:
            host = target_of(page.url).host
            raise ToolFailure(f"The page of {host} has no text; it may be made by scripts, which don't run.")
        links = [address for _, address in reading.links]
        return ToolResult.text(_shown(url, page, reading, limit), urls=links, fetched=page.url)

    async def _at_work(self) -> tuple[Downloader, Robots]:
        """Brings the HTTP client at first use; an import blocks for a while."""
        download = await asyncio.to_thread(importlib.import_module, "tools.web.download")
        from tools.web.robots import Robots

        if self._ready is None:
            self._ready = (self._make or download.Downloader)(self._borders), Robots(download.PRODUCT)
        return self._ready

    def _borders(self) -> Borders:
        return Borders.of(self._allow_private())


def known(url: str, known_urls: Collection[str]) -> str:
    """``url`` normalised, if the conversation knows it. One without a scheme may mean either.

    Raises:
        ToolFailure: it is no address, or nobody gave it.
    """
    spellings = [url] if "://" in url else [f"https://{url}", f"http://{url}"]
    try:
        addresses = [well_formed(spelling) for spelling in spellings]
    except BadAddress as error:
        raise ToolFailure(f"That is no address of a page: {error}.") from error
    for address in addresses:
        for variant in _variants(address):
            if variant in known_urls:
                return variant
    raise ToolFailure(
        "Only addresses are read that the user wrote, a search found or a page read before links to; this is "
        "none of them. Search for it, or ask the user for the address."
    )


def _variants(address: str) -> Iterator[str]:
    """Spellings that models take for the same: the other scheme, and a slash at the end or none."""
    scheme, _, rest = address.partition("://")
    slash = rest if "?" in rest else rest.removesuffix("/") if rest.endswith("/") else f"{rest}/"
    for ending in (rest, slash):
        yield f"{scheme}://{ending}"
        yield f"{'http' if scheme == 'https' else 'https'}://{ending}"


def _wanted(head: Download) -> bool:
    """Refuses by its head what can't be shown, before its body is loaded.

    Raises:
        ToolFailure: an error status, or a kind of content that has no text.
    """
    host = target_of(head.url).host
    if not 200 <= head.status < 300:
        raise ToolFailure(f"{host} answered HTTP {head.status}{_phrase(head.status)}{_wait(head)}.")
    if _kind(head.media_type) is None:
        shown = "".join(char for char in head.media_type[:60] if char.isalnum() or char in "/+-.")
        raise ToolFailure(f"{host} gives {shown}, which has no text that could be read.")
    return True


def _kind(media_type: str) -> _Kind | None:
    if media_type in _HTML:
        return "html"
    if media_type in ("application/pdf", "application/x-pdf"):
        return "pdf"
    if _TEXT.fullmatch(media_type):
        return "text"
    return "unsaid" if media_type in _UNSAID else None


async def _read(page: Download) -> Reading:
    from tools.web.reading.apart import read_apart
    from tools.web.reading.plain import read_plain

    kind = _kind(page.media_type)
    start = page.body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith(b"%pdf-"):
        kind = "pdf"
    elif kind == "unsaid":
        kind = "html" if start.startswith((b"<!doctype html", b"<html")) else "text"
    if kind == "pdf" and page.cut:
        raise Unreadable("is a PDF that is too large")
    if kind in ("html", "pdf"):
        reading = await read_apart(kind, page.body, page.url, page.charset)
    else:
        reading = await run_blocking(lambda: read_plain(page.body, page.charset), "reading a page")
    return Reading(reading.title, reading.text, reading.links, cut=reading.cut or page.cut)


def _shown(asked: str, page: Download, reading: Reading, limit: int) -> str:
    lines = [f"Address: {page.url}"]
    if page.url != asked:
        lines.append(f"Redirected from: {asked}")
    if reading.title:
        lines.insert(0, f"Title: {reading.title}")
    text = reading.text
    if len(text) > limit:
        text = text[:limit].rstrip()
        more = "; a larger max_chars gives more" if limit < MAX_CHARS else ""
        lines.append(f"Cut: the first {limit} of {len(reading.text)} characters{more}.")
    elif reading.cut:
        lines.append("Cut: the page goes on, but is too large to be read to its end.")
    lines += ["", text]
    shown = [(words, url) for words, url in reading.links if len(url) <= 200][:SHOWN_LINKS]
    if shown:
        lines += ["", "Links of the page:"]
        lines += [f"- {words}: {url}" if words else f"- {url}" for words, url in shown]
    return "\n".join(lines)


def _phrase(status: int) -> str:
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""


def _wait(head: Download) -> str:
    wait = head.headers.get("retry-after", "")
    return f"; it asks to wait {wait} s" if wait.isascii() and wait.isdigit() and len(wait) < 7 else ""
