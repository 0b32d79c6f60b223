"""The page and its assets, from the folder that the build makes.

A path is looked up among the names of the files that are there, so that no path can lead out of the
folder, whatever it is made of. Nothing comes from the system's own table of types: on Windows that
table may say anything about ``.js``.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import unquote

from server.messages import render

_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".gif": "image/gif",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".wasm": "application/wasm",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".txt": "text/plain; charset=utf-8",
}
_PLAIN: Final = _TYPES[".txt"]
_HASHED: Final = re.compile(r"/assets/.*-[A-Za-z0-9_-]{8,}\.[a-z0-9]+")
_FOR_EVER: Final = "public, max-age=31536000, immutable"
_ASK_AGAIN: Final = "no-cache"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self' {sockets}; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'"
)
SAFE_HEADERS: Final[Mapping[str, str]] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), hid=(), payment=(), usb=()",
}
"""What every answer of the server carries."""


@dataclass(frozen=True, slots=True)
class StaticAnswer:
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


class StaticFiles:
    """The files of one folder.

    Args:
        folder: the built page; it may be missing, then every answer says how to build it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def answer(
        self, method: str, target: str, *, host: str, if_none_match: str = "", accept_encoding: str = ""
    ) -> StaticAnswer:
        """Answers one request.

        Args:
            target: path and query as they were sent.
            host: the request's Host, which the door has checked.
        """
        if method not in ("GET", "HEAD"):
            return _text(405, "Method not allowed\n", {"Allow": "GET, HEAD"})
        files = self._files()
        if "/index.html" not in files:
            return _text(
                503, f"{render('gateway.page_missing', 'en')}\n{render('gateway.page_missing', 'zh-CN')}\n"
            )
        name = _name_of(target)
        path = files.get(name)
        if path is None:
            return _text(404, "Not found\n")
        compressed = files.get(f"{name}.gz") if _takes_gzip(accept_encoding) else None
        try:
            body = (compressed or path).read_bytes()
        except OSError:
            return _text(404, "Not found\n")
        headers = {
            "Content-Type": _TYPES.get(PurePosixPath(name).suffix.lower(), "application/octet-stream"),
            "Cache-Control": _FOR_EVER if _HASHED.fullmatch(name) else _ASK_AGAIN,
            "ETag": f'"{hashlib.sha256(body).hexdigest()[:32]}"',
            "Content-Security-Policy": _POLICY.format(sockets=f"ws://{host} wss://{host}"),
            **SAFE_HEADERS,
        }
        if f"{name}.gz" in files:
            headers["Vary"] = "Accept-Encoding"
        if _known(if_none_match, headers["ETag"]):
            return StaticAnswer(304, headers)
        if compressed:
            headers["Content-Encoding"] = "gzip"
        headers["Content-Length"] = str(len(body))
        return StaticAnswer(200, headers, b"" if method == "HEAD" else body)

    def _files(self) -> dict[str, Path]:
        """Every file by its path in an address; no hidden ones, none that a link brings in from outside."""
        root = self._folder.resolve()
        found: dict[str, Path] = {}
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                path = Path(folder, name)
                if not name.startswith(".") and path.resolve().is_relative_to(root) and path.is_file():
                    found["/" + path.relative_to(root).as_posix()] = path
        return found


def _name_of(target: str) -> str:
    """The path of ``target``, decoded once; "/" is the page."""
    name = unquote(target.partition("?")[0], errors="replace")
    return "/index.html" if name == "/" else name


def _takes_gzip(accept_encoding: str) -> bool:
    for choice in accept_encoding.lower().split(","):
        coding, _, quality = choice.partition(";")
        if coding.strip() == "gzip":
            return re.fullmatch(r"\s*q\s*=\s*0(?:\.0*)?\s*", quality) is None
    return False


def _known(if_none_match: str, etag: str) -> bool:
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return etag in tags or "*" in tags


def _text(status: int, text: str, headers: Mapping[str, str] | None = None) -> StaticAnswer:
    body = text.encode()
    return StaticAnswer(
        status,
        {
            "Content-Type": _PLAIN,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            **SAFE_HEADERS,
            **(headers or {}),
        },
        body,
    )
