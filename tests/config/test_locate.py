"""Which lab.toml is read: never one that merely lies in the current folder."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from server.config.files import write_atomically
from server.config.load import load
from server.config.locate import Location, checkout_config, locate, prepare, shipped_config

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_option_comes_first(tmp_path: Path) -> None:
    found = locate(tmp_path / "a.toml", environ={"PET_CONFIG": "b.toml"})
    assert found.config == tmp_path / "a.toml"
    assert found.shown == "a.toml"
    assert not found.owned


def test_the_environment_comes_next(tmp_path: Path) -> None:
    environ = {"PET_CONFIG": str(tmp_path / "b.toml"), "PET_DATA_DIR": str(tmp_path / "d")}
    found = locate(environ=environ)
    assert (found.config, found.data_dir) == (tmp_path / "b.toml", tmp_path / "d")


def test_a_given_path_is_relative_to_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = locate("conf/a.toml", "d", environ={})
    assert found == Location(tmp_path / "conf/a.toml", tmp_path / "d", "a.toml", owned=False)


def test_a_checkout_uses_its_own_file_wherever_it_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lab.toml").write_text("[server]\nport = 1\n", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "pet_mode"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert locate(environ={}).config == ROOT / "lab.toml" == checkout_config()


def test_the_data_folder_option_beats_the_environment(tmp_path: Path) -> None:
    found = locate(data_dir=tmp_path / "x", environ={"PET_DATA_DIR": str(tmp_path / "y")})
    assert found.data_dir == tmp_path / "x"


def test_the_first_start_makes_the_users_file_from_the_one_that_ships(tmp_path: Path) -> None:
    location = Location(tmp_path / "conf" / "lab.toml", tmp_path / "share" / "data", "lab.toml", owned=True)
    prepare(location)
    assert location.config.read_bytes() == shipped_config() == (ROOT / "lab.toml").read_bytes()
    assert load(location.config).config
    assert location.data_dir.is_dir()
    if sys.platform != "win32":
        assert stat.S_IMODE(location.data_dir.stat().st_mode) == 0o700


def test_the_next_start_leaves_the_users_file_alone(tmp_path: Path) -> None:
    location = Location(tmp_path / "lab.toml", tmp_path / "data", "lab.toml", owned=True)
    prepare(location)
    write_atomically(location.config, b"# mine\n")
    prepare(location)
    assert location.config.read_bytes() == b"# mine\n"


def test_a_file_that_the_user_named_is_never_made(tmp_path: Path) -> None:
    prepare(locate(tmp_path / "lab.toml", tmp_path / "data", environ={}))
    assert not (tmp_path / "lab.toml").exists()


def test_installed_elsewhere_the_users_folder_gets_the_packaged_file(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    shutil.copytree(ROOT / "server", site / "server", ignore=shutil.ignore_patterns("page", "__pycache__"))
    shutil.copy(ROOT / "lab.toml", site / "server" / "config" / "lab.toml")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "lab.toml").write_text("[server]\nport = 1\n", encoding="utf-8")
    script = "from server.config.locate import *; it = locate(); prepare(it); print(it.config, it.owned)"
    homes = {name: str(tmp_path / "home") for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA")}
    environ = {**os.environ, **homes, "PYTHONPATH": str(site), "PYTHONIOENCODING": "utf-8"}
    for name in ("PET_CONFIG", "PET_DATA_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        environ.pop(name, None)
    command = [sys.executable, "-P", "-c", script]
    done = subprocess.run(
        command,
        cwd=tmp_path / "work",
        env=environ,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    where, owned = done.stdout.strip().rsplit(" ", 1)
    assert owned == "True"
    assert tmp_path / "home" in Path(where).parents or sys.platform == "win32"
    assert "pet_mode" in Path(where).parts
    assert Path(where).read_bytes() == (ROOT / "lab.toml").read_bytes()
