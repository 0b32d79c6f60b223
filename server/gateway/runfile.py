"""``run.json`` in the data folder: where the running server is, for ``pet say`` and the like.

The file may be stale or forged: whoever wants to send the token there asks for a proof first.
"""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

from server.gateway.proof import NONCE_FIELD, new_nonce, proves

_WITHIN_S: Final = 2.0
_MAX_BYTES: Final = 16 * 1024


@dataclass(frozen=True, slots=True)
class Running:
    """A server that wrote its address; it may have died since.

    Attributes:
        url: ``http://host:port``.
    """

    url: str
    host: str
    port: int
    pid: int

    def answers(self, token: str | None) -> bool:
        """Whether that server is still there and knows ``token``; asks its ``/healthz``, for two seconds at
        most. Without a token only whether some companion is there."""
        import psutil

        if not psutil.pid_exists(self.pid):
            return False
        nonce = new_nonce()
        try:
            health = _get_health(self.host, self.port, nonce)
            if health["status"] != "ok":
                return False
            return token is None or proves(str(health["proof"]), token, nonce, self.port)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return False


class RunFile:
    """``run.json`` of one data folder."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / "run.json"

    def write(self, url: str) -> None:
        """Raises:
        OSError: the folder can't be written.
        """
        fresh = self._path.with_suffix(f".{os.getpid()}.tmp")
        try:
            fresh.write_text(json.dumps({"url": url, "pid": os.getpid()}), encoding="utf-8")
            fresh.replace(self._path)
        except OSError:
            with suppress(OSError):
                fresh.unlink()
            raise

    def read(self) -> Running | None:
        """What the file says; None where there is none, or none that makes sense."""
        try:
            with self._path.open("rb") as file:
                data: Any = json.loads(file.read(_MAX_BYTES))
            url, pid = data["url"], data["pid"]
            target = urlsplit(url)
            if target.scheme != "http" or not target.hostname or target.port is None:
                return None
            if not isinstance(pid, int) or not 0 < pid < 2**31:
                return None
            return Running(url, target.hostname, target.port, pid)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def remove(self) -> None:
        """Takes back this process's own entry, nobody else's."""
        running = self.read()
        if running is not None and running.pid == os.getpid():
            with suppress(OSError):
                self._path.unlink()


def _get_health(host: str, port: int, nonce: str) -> Any:
    """The JSON of ``GET /healthz``.

    Raises:
        OSError, ValueError, RecursionError: there was none in time.
    """
    until = monotonic() + _WITHIN_S
    shown = f"[{host}]" if ":" in host else host
    lines = ("GET /healthz HTTP/1.1", f"Host: {shown}:{port}", f"{NONCE_FIELD}: {nonce}", "Connection: close")
    answer = bytearray()
    with socket.create_connection((host, port), timeout=_WITHIN_S) as connection:
        connection.sendall("\r\n".join((*lines, "", "")).encode("ascii"))
        while len(answer) < _MAX_BYTES:
            left = until - monotonic()
            if left <= 0:
                raise TimeoutError
            connection.settimeout(left)
            part = connection.recv(4096)
            if not part:
                break
            answer += part
    head, _, body = bytes(answer).partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200 "):
        raise ValueError("no answer of ours")
    return json.loads(body)
