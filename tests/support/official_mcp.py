"""The official MCP servers, installed once for all runs.

Those of PyPI live in an environment of their own, so that ours stays what users have; those of npm beside it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

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


def _uv() -> str:
    """uv lies beside the interpreter where pet.py made the environment."""
    beside = Path(sys.executable).parent / ("uv.exe" if os.name == "nt" else "uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not here")
    return uv
