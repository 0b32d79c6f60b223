"""``run.json`` in the data folder: where the running server is, for ``pet say`` and the like."""

from __future__ import annotations

import json
import os
from contextlib import closing, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Running:
    """A server that wrote its address; it may have died since."""

    url: str
    pid: int

    def answers(self) -> bool:
        """Whether that server is still there: asks its ``/healthz``, for a second at most."""
        target = urlsplit(self.url)
        try:
            connection = HTTPConnection(target.hostname or "", target.port, timeout=1)
            with closing(connection):
                connection.request("GET", "/healthz")
                return bool(json.loads(connection.getresponse().read(4096))["status"] == "ok")
        except (OSError, HTTPException, ValueError, KeyError, TypeError):
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
        fresh.write_text(json.dumps({"url": url, "pid": os.getpid()}), encoding="utf-8")
        fresh.replace(self._path)

    def read(self) -> Running | None:
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
            return Running(url=str(data["url"]), pid=int(data["pid"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def remove(self) -> None:
        """Takes back this process's own entry, nobody else's."""
        running = self.read()
        if running is not None and running.pid == os.getpid():
            with suppress(OSError):
                self._path.unlink()
