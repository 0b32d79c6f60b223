"""Addresses of providers, as people type and paste them."""

from __future__ import annotations

import ipaddress
from urllib.parse import SplitResult, urlsplit

_ENDPOINTS = ("/chat/completions", "/completions", "/responses", "/embeddings", "/models")


def normalise_base_url(text: str) -> str:
    """The address under which ``/chat/completions`` lies, without a trailing slash.

    An address without a path gets ``/v1``; a pasted endpoint (``…/v1/chat/completions``) is cut back to its
    base; any other path (``/v1beta/openai``) stays.

    Raises:
        ValueError: no host, a scheme other than http and https, or a port that is none.
    """
    parts = _split(text)
    path = parts.path.rstrip("/")
    for endpoint in _ENDPOINTS:
        if path.endswith(endpoint):
            path = path.removesuffix(endpoint).rstrip("/")
            break
    return f"{parts.scheme}://{parts.netloc}{path or '/v1'}"


def native_root(base_url: str) -> str:
    """Where a local server's own API lies, beside its ``/v1``."""
    return base_url.removesuffix("/v1")


def is_loopback(url: str) -> bool:
    """Whether ``url`` leads to this very machine by its wording; names aren't looked up."""
    host = (_split(url).hostname or "").removesuffix(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _ip(host)
    return address is not None and (address.is_loopback or address.is_unspecified)


def may_be_local_server(url: str) -> bool:
    """Whether a server of the user's own may listen there: this machine, a private address, plain http."""
    parts = _split(url)
    address = _ip(parts.hostname or "")
    return is_loopback(url) or parts.scheme == "http" or (address is not None and address.is_private)


def port_of(url: str) -> int:
    parts = _split(url)
    return parts.port or (443 if parts.scheme == "https" else 80)


def host_and_port(url: str) -> str:
    """``url`` as it may be shown: no path and no credentials."""
    parts = _split(url)
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{parts.port}" if parts.port else shown


def _split(text: str) -> SplitResult:
    text = text.strip()
    if "://" not in text:
        bare = urlsplit("//" + text)
        secure = bare.port in (None, 443) and _ip(bare.hostname or "") is None
        local = (bare.hostname or "") == "localhost"
        text = ("https://" if secure and not local else "http://") + text
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("the address is no http or https URL")
    _ = parts.port
    return parts


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
