"""The official MCP servers, installed once for all runs.

Those of PyPI live in an environment of their own, so that ours stays what users have; those of npm beside it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from frontend import build
from scripts.environments import setting_up

PINS = Path(__file__).parents[1] / "tools" / "mcp" / "official"


def python_servers(cache: Path) -> Path:
    """The interpreter of an environment with ``mcp-server-fetch``, ``-git`` and ``-time``."""
    pins = (PINS / "requirements.txt").read_bytes()
    digest = hashlib.sha256(pins + sys.version.encode()).hexdigest()[:12]
    folder = cache / f"python-{digest}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / ".installed"
    if not stamp.exists():
        uv = _uv()
        for words in (
            ["venv", "--clear", "--python", sys.executable, str(folder)],
            ["pip", "install", "--python", str(python), "-r", str(PINS / "requirements.txt")],
        ):
            done = subprocess.run([uv, *words], env=setting_up(), capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        stamp.touch()
    return python


def node_server(cache: Path, name: str) -> list[str]:
    """The command of ``@modelcontextprotocol/server-NAME``."""
    folder = cache / "node"
    folder.mkdir(exist_ok=True)
    for file in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(PINS / file, folder / file)
    build.install(folder)
    entry = folder / "node_modules" / "@modelcontextprotocol" / f"server-{name}" / "dist" / "index.js"
    return [str(build.node()), str(entry)]


def make_repository(folder: Path) -> Path:
    """A git repository with one commit, "The first one"."""
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    commit = ["commit", "-q", "--allow-empty", "-m", "The first one"]
    subprocess.run(["git", "-C", str(folder), *author, *commit], check=True)
    return folder


@contextlib.contextmanager
def tea_site() -> Iterator[str]:
    """A web site with ``/page``, about tea; its address."""
    site = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    thread = Thread(target=site.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{site.server_port}"
    finally:
        site.shutdown()
        site.server_close()
        thread.join()


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        found = self.path == "/page"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        if found:
            self.wfile.write(
                b"<html><body><article><h1>Tea</h1><p>Green tea wants 80 degrees.</p></article></body></html>"
            )

    def log_message(self, format: str, *args: object) -> None:
        pass


def _uv() -> str:
    """uv lies beside the interpreter where pet.py made the environment."""
    beside = Path(sys.executable).parent / ("uv.exe" if os.name == "nt" else "uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not here")
    return uv
