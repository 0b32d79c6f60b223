"""How a server proves that it knows the token without telling it, so that nobody else is given it."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import Final

NONCE_FIELD: Final = "X-Pet-Nonce"
_NONCE: Final = re.compile(r"[A-Za-z0-9_-]{16,128}")


def new_nonce() -> str:
    return secrets.token_urlsafe(24)


def is_nonce(text: str) -> bool:
    return _NONCE.fullmatch(text) is not None


def proof(token: str, nonce: str, port: int) -> str:
    """HMAC-SHA256, in hex. With the port that was asked: an impostor on another one can't pass it on."""
    return hmac.new(token.encode(), f"{nonce}:{port}".encode(), hashlib.sha256).hexdigest()


def proves(answer: str, token: str, nonce: str, port: int) -> bool:
    """Whether ``answer`` is that proof, compared in constant time."""
    return hmac.compare_digest(answer.encode("utf-8", "replace"), proof(token, nonce, port).encode())
