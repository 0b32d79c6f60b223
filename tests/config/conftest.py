"""A companion's files, and a user for whom permissions mean something."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

NOBODY = 65534


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A small lab.toml with comments."""
    path = tmp_path / "lab.toml"
    path.write_text(
        "# mine\n"
        "[llm.providers.openai] # the cloud\n"
        'base_url = "https://api.openai.com/v1"\n'
        'api_key = "env:OPENAI_API_KEY" # from the environment\n'
        "\n"
        "[llm.providers.own]\n"
        'base_url = "http://127.0.0.1:8000/v1"\n'
        "\n"
        "[tools]\n"
        "git = false\n"
        "\n"
        "[chat]\n"
        "temperature = 0.7 # warm\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def plain_user() -> Iterator[Path]:
    """A folder, while this process is no administrator: for one, no file is read-only."""
    if sys.platform == "win32":
        pytest.skip("permission bits mean something else on Windows")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if os.geteuid() != 0:
            yield folder
            return
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            os.seteuid(0)
