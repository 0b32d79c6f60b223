from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
# The Python that .venv was made from: a newcomer's has none of our packages.
BARE_PYTHON = getattr(sys, "_base_executable", None) or sys.executable


@dataclass(frozen=True)
class Start:
    """One start of pet.py that has ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Checkout:
    """A copy of this checkout on a machine with neither Node nor uv."""

    root: Path
    environment: Mapping[str, str]

    def begin(self, *words: str, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [BARE_PYTHON, "pet.py", *words],
            cwd=self.root,
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def start(self, *words: str, **more: str) -> Start:
        return ended(self.begin(*words, **more))

    @property
    def bin(self) -> Path:
        return self.root / ".venv" / ("Scripts" if os.name == "nt" else "bin")

    @property
    def uv(self) -> Path:
        return self.bin / ("uv.exe" if os.name == "nt" else "uv")


def ended(process: subprocess.Popen[str]) -> Start:
    out, err = process.communicate()
    return Start(process.returncode, out, err)


def bare_environment(tools: Path) -> dict[str, str]:
    """This environment with no Node, npm or uv on its PATH, and with no virtual environment active."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("VIRTUAL_ENV", "UV_", "PET_"))
    }
    if os.name == "nt":
        unwanted = ("node.exe", "npm.cmd", "uv.exe")
        folders = [
            f for f in kept["PATH"].split(os.pathsep) if not any(Path(f, name).exists() for name in unwanted)
        ]
        return {**kept, "PATH": os.pathsep.join(folders)}
    tools.mkdir()
    for name in ("sh", "env", "uname", "git"):
        found = shutil.which(name)
        assert found is not None
        (tools / name).symlink_to(found)
    return {**kept, "PATH": str(tools)}


def copy_checkout(to: Path) -> None:
    """What a clone would hold, changes that aren't committed yet included."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode("utf-8").split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


@pytest.fixture(scope="session")
def bare_checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Copied, not set up."""
    folder = tmp_path_factory.mktemp("machine")
    root = folder / "my pet 宠物 (1)"
    copy_checkout(root)
    return Checkout(root, bare_environment(folder / "tools"))


@pytest.fixture(scope="session")
def first_start(bare_checkout: Checkout) -> Start:
    return bare_checkout.start("--version")


@pytest.fixture(scope="session")
def checkout(bare_checkout: Checkout, first_start: Start) -> Checkout:
    """Set up."""
    assert first_start.code == 0, first_start.err
    return bare_checkout
