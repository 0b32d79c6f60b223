#!/usr/bin/env python3
"""Sets pet_mode up in .venv beside this file, then runs it. Needs Python 3.11 or later and nothing else.

    python3 pet.py [words…]        the command `pet` with these words (none: start it and open the browser)
    python3 pet.py test [words…]   the whole test suite; with words, pytest alone with these words

The first start takes about a minute; later ones go straight on. What set-up says goes to stderr; stdout is
the program's own. This file is in a syntax that Python 3.8 reads too: an old Python must get to its message.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

OLDEST = (3, 11)
NEWEST = (3, 14)


def main(words: Sequence[str]) -> int:
    if sys.version_info < OLDEST:
        print(too_old(sys.version_info[:2], sys.executable, newer_pythons()), file=sys.stderr)
        return 1
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from scripts import bootstrap

    return bootstrap.main(words)


def newer_pythons() -> list[str]:
    """Commands on PATH that look like a Python that is new enough, newest first."""
    names = [f"python3.{minor}" for minor in range(NEWEST[1], OLDEST[1] - 1, -1)]
    return [name for name in names if shutil.which(name) and starts(name)]


def starts(python: str) -> bool:
    # A version manager's shim lies on PATH whether or not there is a Python behind it.
    return subprocess.run([python, "-c", ""], stderr=subprocess.DEVNULL, check=False).returncode == 0


def too_old(version: Sequence[int], executable: str, newer: Sequence[str]) -> str:
    wanted = ".".join(map(str, OLDEST))
    if newer:
        remedy = f"You have a newer one. Start it with:\n\n    {newer[0]} pet.py"
    elif sys.platform == "win32":
        remedy = f"Install Python {wanted} or later from python.org, then run:  py pet.py"
    elif sys.platform == "darwin":
        remedy = f"Install Python {wanted} or later from python.org, or with:  brew install python"
    else:
        remedy = f"Install Python {wanted} or later with your system's packages, or from python.org."
    here = ".".join(map(str, version))
    return (
        f"pet_mode needs Python {wanted} or later; this is Python {here} ({executable}).\n{remedy}\n"
        "With uv, `uv run pet` brings a Python of its own."
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
