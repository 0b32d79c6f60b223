"""What pet.py does once Python is new enough: see whether everything is set up, then run.

Needs the standard library alone. A set-up leaves a stamp in .venv; while that fits what lies here, a start
calls neither pip nor uv.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from scripts.environments import running

UV = "0.13.9"

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / ".pet-stamp"
PAGE = ROOT / "server" / "page"
WINDOWS = os.name == "nt"
BIN = VENV / ("Scripts" if WINDOWS else "bin")
PYTHON = BIN / ("python.exe" if WINDOWS else "python")
INTERRUPTED = 130


class SetUpError(Exception):
    """Set-up can't go on; the message says what to do."""


def main(words: Sequence[str]) -> int:
    testing = list(words[:1]) == ["test"]
    try:
        if not is_ready(testing):
            from scripts.set_up import set_up

            set_up(testing)
    except (SetUpError, OSError) as error:
        say(f"\npet_mode could not be set up.\n{error}")
        return 1
    except KeyboardInterrupt:
        say("\nStopped. The next start goes on with the set-up.")
        return INTERRUPTED
    return run_tests(words[1:]) if testing else run_pet(words)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def is_ready(testing: bool) -> bool:
    """Whether .venv was set up from exactly what lies here now, with the test tools where they are needed."""
    stamp = read_stamp()
    return (
        stamp.get("state") == state_of_set_up(inputs())
        and (stamp.get("dev") is True or not testing)
        and PYTHON.exists()
        and (PAGE / "index.html").exists()
    )


def read_stamp() -> dict[str, object]:
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def state_of_set_up(depends_on: Sequence[str]) -> str:
    """A digest of what a set-up depends on and of what it made, without reading a file."""
    parts = [str(ROOT), UV, os.path.realpath(PYTHON), *depends_on]
    # Whoever adds or removes a package in .venv by other means changes this list.
    for folder in site_packages():
        parts += sorted(path.name for path in folder.glob("*.dist-info"))
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def inputs() -> list[str]:
    """Name, size and time of each file that a set-up depends on."""
    files = [(name, (ROOT / name).stat()) for name in ("pyproject.toml", "hatch_build.py")]
    folders = [str(ROOT / "frontend")]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.startswith(".") or entry.name in ("node_modules", "tests", "__pycache__"):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    files.append((entry.path, entry.stat()))
    return [f"{path} {info.st_size} {info.st_mtime_ns}" for path, info in files]


def site_packages() -> list[Path]:
    return [VENV / "Lib" / "site-packages"] if WINDOWS else sorted(VENV.glob("lib/python*/site-packages"))


def run_pet(words: Sequence[str]) -> int:
    environment = running()
    if WINDOWS:
        return wait_for([str(BIN / "pet.exe"), *words], environment)
    become([str(PYTHON), str(BIN / "pet"), *words], environment)


def become(command: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    os.execve(command[0], list(command), dict(environment))


def run_tests(words: Sequence[str]) -> int:
    """The page's unit tests, then pytest, so that pytest's summary comes last; with words, pytest alone."""
    environment = running()
    page = 0
    if not words:
        page = wait_for([str(PYTHON), str(ROOT / "frontend" / "build.py"), "test"], environment, ROOT)
        if page == INTERRUPTED:
            return page
    rest = wait_for([str(PYTHON), "-m", "pytest", *words], environment, ROOT)
    if page:
        say("The page's unit tests failed: see above, before pytest's output.")
    return rest or page


def wait_for(command: Sequence[str], environment: Mapping[str, str], cwd: Path | None = None) -> int:
    """Run a command in our place: Ctrl-C is its own affair, and its exit code becomes ours."""
    process = subprocess.Popen(command, env=dict(environment), cwd=cwd)
    # Handlers, not SIG_IGN, which a child would inherit; they are set after it has started.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    code = process.wait()
    return code if code >= 0 else 128 - code
