"""Addresses of pages, each in its one written form.

Whatever spelling a model, a user or a page chooses, ``HTTP://Example.com.:80/a/../b#c`` and
``http://example.com/b`` are the same text afterwards, so that addresses can be compared, and hosts have one
meaning: 2130706433, 0x7f.1, 0177.0.0.1 and １２７。０。０。１ are all 127.0.0.1. Nothing is looked up here.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

MAX_LENGTH: Final = 4096
MAX_HOST: Final = 253
PORTS: Final = {"http": 80, "https": 443}

_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[^:\[\]@]+)(?::([0-9]{0,5}))?")
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")
_HEX = re.compile(r"0x[0-9a-f]*")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
_IN_PATH: Final = "/%:@!$&'()*+,;=~"
_IN_QUERY: Final = _IN_PATH + "?[]"
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class BadAddress(ValueError):
    """A text that is no address of a page; the message says why, without repeating it."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes. ``host`` is a name in ASCII and lower case, or an IP address without brackets."""

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """``host:port``, the port always said."""
        return f"{_bracketed(self.host)}:{self.port}"

    @property
    def origin(self) -> str:
        """``http://host`` or ``http://host:port``, without a slash at the end."""
        port = "" if self.port == PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{_bracketed(self.host)}{port}"


def normalise(url: str) -> str | None:
    """:func:`well_formed`, but None for what is no address."""
    try:
        return well_formed(url)
    except BadAddress:
        return None


def well_formed(url: str) -> str:
    """The one form of ``url``: scheme and host in lower case, names in ASCII (IDNA), IPv4 in its dotted form,
    no default port, no dot segments, no fragment. Applying it twice changes nothing.

    Raises:
        BadAddress: no http or https address, or one with a user name, a port or a host that is none.
    """
    target, rest = _parse(url)
    return target.origin + rest


def target_of(url: str) -> Target:
    """Where a request for ``url`` goes.

    Raises:
        BadAddress: as :func:`well_formed`.
    """
    return _parse(url)[0]


def join(base: str, reference: str) -> str:
    """What ``reference`` (a link, a ``Location``) on the page ``base`` leads to, normalised.

    Raises:
        BadAddress: as :func:`well_formed`.
    """
    if len(reference) > MAX_LENGTH:
        raise BadAddress("the address is too long")
    try:
        return well_formed(urljoin(base, reference.strip(" \t\r\n\f")))
    except BadAddress:
        raise
    except ValueError as error:
        raise BadAddress("the address has no valid form") from error


def ip_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """``host`` as an IP address, None when it is a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _parse(url: str) -> tuple[Target, str]:
    url = url.strip(" \t\r\n")
    if not url or len(url) > MAX_LENGTH:
        raise BadAddress("the address is empty or too long")
    if any(ord(char) < 0x20 or ord(char) == 0x7F or 0xD800 <= ord(char) <= 0xDFFF for char in url):
        raise BadAddress("the address has characters that no address may have")
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise BadAddress("the address has no valid form") from error
    if parts.scheme not in PORTS:
        raise BadAddress("the address must begin with http:// or https://")
    if "@" in parts.netloc:
        raise BadAddress("the address must have no user name or password")
    # Browsers take a backslash for a slash, other readers don't: both must see one host.
    if "\\" in parts.netloc or "\\" in parts.path:
        raise BadAddress("the address has a backslash")
    match = _AUTHORITY.fullmatch(parts.netloc)
    if match is None:
        raise BadAddress("the address has no valid host")
    port = int(match[2]) if match[2] else PORTS[parts.scheme]
    if not 0 < port < 65536:
        raise BadAddress("the address has no valid port")
    query = f"?{_escaped(parts.query, _IN_QUERY)}" if parts.query else ""
    return Target(parts.scheme, _host(match[1]), port), _path(parts.path) + query


def _host(text: str) -> str:
    if text.startswith("["):
        try:
            return ipaddress.IPv6Address(text[1:-1]).compressed
        except ValueError as error:
            raise BadAddress("the address has no valid IPv6 host") from error
    name = _ascii(text).removesuffix(".")
    labels = name.split(".")
    if len(name) > MAX_HOST or not all(_LABEL.fullmatch(label) for label in labels):
        raise BadAddress("the address has no valid host")
    if labels[-1].isdigit() or _HEX.fullmatch(labels[-1]):
        return str(ipaddress.IPv4Address(_ipv4(labels)))
    return name


def _ascii(name: str) -> str:
    if name.isascii():
        return name.lower()
    import idna

    if len(name) > MAX_HOST:
        raise BadAddress("the address has no valid host")
    try:
        return idna.encode(name, uts46=True).decode("ascii").lower()
    except UnicodeError as error:
        raise BadAddress("the address has no valid host") from error


def _ipv4(labels: list[str]) -> int:
    """The number that the C library would make of a host whose last label is a number."""
    *front, last = [_number(label) for label in labels]
    if len(front) > 3 or any(number > 255 for number in front) or last >= 256 ** (4 - len(front)):
        raise BadAddress("the address has no valid IPv4 host")
    return last + sum(number << (24 - 8 * index) for index, number in enumerate(front))


def _number(label: str) -> int:
    try:
        if label.startswith("0x"):
            return int(label[2:] or "0", 16)
        return int(label, 8 if label.startswith("0") and len(label) > 1 else 10)
    except ValueError as error:
        raise BadAddress("the address has no valid IPv4 host") from error


def _path(path: str) -> str:
    kept: list[str] = []
    segments = _escaped(path, _IN_PATH).split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments and segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _escaped(text: str, safe: str) -> str:
    """``text`` with everything escaped that must be, and nothing that needn't."""
    return quote(_ESCAPE.sub(_escape, text), safe=safe)


def _escape(match: re.Match[str]) -> str:
    if match[1] is None:
        return "%25"
    char = chr(int(match[1], 16))
    return char if char in _UNRESERVED else match[0].upper()


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
