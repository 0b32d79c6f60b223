"""Pins every dependency: writes the versions that uv resolves into pyproject.toml, as constraints.

    .venv/bin/python scripts/pin.py [--upgrade]

Pins lie in pyproject.toml because `uv run pet`, `uv sync` and pet.py all read them there, and as plain
versions because uv.lock would name the package index of whoever wrote it. One resolution holds for every
supported Python and system; a version that holds only for some says so by a marker. Without --upgrade,
only packages that have no pin yet get a new one.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BLOCKS = {
    "constraint-dependencies": "what runs, and the tools of the group dev",
    "build-constraint-dependencies": "what builds the package",
}
_BLOCK = re.compile(r"# pins: .*?\n# end of pins\n", re.DOTALL)


def main(words: list[str]) -> int:
    path = ROOT / "pyproject.toml"
    text = path.read_text(encoding="utf-8")
    bare, old = _BLOCK.subn("", text)
    base = bare if "--upgrade" in words or not old else text
    project = tomllib.loads(bare)
    pins = resolve(base, with_project=True)
    build = resolve(building(project, base), with_project=False)
    start = bare.index("[tool.uv]\n") + len("[tool.uv]\n")
    path.write_text(bare[:start] + rendered(pins, build) + bare[start:], encoding="utf-8")
    print(f"{len(pins)} pins, {len(build)} of them for building")
    return 0


def resolve(pyproject: str, *, with_project: bool) -> list[str]:
    """The pins that uv's universal resolution gives for a pyproject.toml."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pyproject.toml").write_text(pyproject, encoding="utf-8")
        command = [sys.executable, "-m", "uv", "lock", "--quiet", "--project", folder]
        subprocess.run(command, cwd=folder, check=True)
        lock = tomllib.loads(Path(folder, "uv.lock").read_text(encoding="utf-8"))
    return pins_of(lock)


def pins_of(lock: dict[str, Any]) -> list[str]:
    """`name==version` for each package of a uv.lock, with a marker where Python or the system decides."""
    pins = []
    for package in lock["package"]:
        if "registry" not in package["source"]:
            continue  # the project itself
        markers = " or ".join(f"({marker})" for marker in package.get("resolution-markers", []))
        pins.append(f"{package['name']}=={package['version']}" + (f" ; {markers}" if markers else ""))
    return sorted(pins)


def building(project: dict[str, Any], base: str) -> str:
    """A pyproject.toml that asks for nothing but what the build asks for."""
    constraints = tomllib.loads(base)["tool"]["uv"].get("build-constraint-dependencies", [])
    return (
        '[project]\nname = "build-of-pet-mode"\nversion = "0"\n'
        f'requires-python = "{project["project"]["requires-python"]}"\n'
        f"dependencies = {project['build-system']['requires']}\n"
        f"[tool.uv]\npackage = false\nconstraint-dependencies = {constraints}\n"
    )


def rendered(pins: list[str], build: list[str]) -> str:
    lines = ["# pins: written by scripts/pin.py\n"]
    for (key, meaning), values in zip(BLOCKS.items(), (pins, build), strict=True):
        lines += [f"# {meaning}\n", f"{key} = [\n", *(f'    "{value}",\n' for value in values), "]\n"]
    return "".join([*lines, "# end of pins\n"])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
