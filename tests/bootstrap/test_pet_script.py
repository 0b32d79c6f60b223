from __future__ import annotations

import ast
import shutil
import sys
from pathlib import Path

import pytest

import pet
from scripts import bootstrap, environments, set_up
from tests.bootstrap.conftest import ROOT


def test_an_old_python_still_reads_the_script() -> None:
    ast.parse((ROOT / "pet.py").read_text(encoding="utf-8"), feature_version=(3, 8))


@pytest.mark.parametrize("name", ["pet", "scripts/bootstrap", "scripts/set_up", "scripts/environments"])
def test_set_up_needs_the_standard_library_alone(name: str) -> None:
    tree = ast.parse((ROOT / f"{name}.py").read_text(encoding="utf-8"))
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= {*sys.stdlib_module_names, "scripts"}


def test_an_old_python_is_told_which_command_works_here() -> None:
    told = pet.too_old((3, 9), "/usr/bin/python3", ["python3.13", "python3.12"])
    assert "this is Python 3.9 (/usr/bin/python3)" in told
    assert "\n    python3.13 pet.py" in told


@pytest.mark.parametrize(
    ("platform", "remedy"), [("win32", "py pet.py"), ("darwin", "brew install python"), ("linux", "packages")]
)
def test_an_old_python_alone_is_told_where_to_get_a_new_one(
    platform: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert remedy in pet.too_old((3, 8), "python3", [])


def test_debian_is_told_the_very_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None)
    version = ".".join(map(str, sys.version_info[:2]))
    assert f"sudo apt install python{version}-venv" in set_up.venv_remedy()


def test_set_up_keeps_the_way_to_an_index_and_drops_other_projects() -> None:
    caller = {
        "UV_DEFAULT_INDEX": "a",
        "UV_HTTP_TIMEOUT": "9",
        "UV_PROJECT": "x",
        "UV_PYTHON": "3.9",
        "VIRTUAL_ENV": "x",
        "PYTHONHOME": "x",
        "PYTHONPATH": "x",
        "PIP_TARGET": "x",
        "PIP_USER": "1",
        "PIP_INDEX_URL": "b",
        "HOME": "h",
    }
    kept = environments.setting_up(caller)
    assert (
        kept.items()
        >= {"UV_DEFAULT_INDEX": "a", "UV_HTTP_TIMEOUT": "9", "PIP_INDEX_URL": "b", "HOME": "h"}.items()
    )
    assert kept["PIP_USER"] == "0"
    assert not kept.keys() & {
        "UV_PROJECT",
        "UV_PYTHON",
        "VIRTUAL_ENV",
        "PYTHONHOME",
        "PYTHONPATH",
        "PIP_TARGET",
    }


def test_uv_gets_what_pip_was_told_about_reaching_packages() -> None:
    listing = "\n".join(
        [
            ":env:.cert='/certificates.pem'",
            "global.index-url='https://mirror.invalid/simple'",
            "global.timeout='60'",
            "global.trusted-host='\\nmirror.invalid\\nother.invalid'",
            "install.index-url='https://inner.invalid/simple'",
            "install.proxy='http://proxy.invalid:8080'",
            "not a setting",
        ]
    )
    assert environments.pip_settings(listing) == {
        "UV_DEFAULT_INDEX": "https://inner.invalid/simple",
        "UV_INSECURE_HOST": "mirror.invalid other.invalid",
        "SSL_CERT_FILE": "/certificates.pem",
        "ALL_PROXY": "http://proxy.invalid:8080",
    }


def test_a_venv_without_its_python_does_not_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_up, "PYTHON", tmp_path / "python")
    assert not set_up.venv_works()


def test_a_stamp_that_is_no_stamp_counts_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "STAMP", tmp_path / "stamp")
    for content in ("", "[]", "{"):
        (tmp_path / "stamp").write_text(content, encoding="utf-8")
        assert bootstrap.read_stamp() == {}
