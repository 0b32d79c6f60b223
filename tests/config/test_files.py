"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from server.config.files import Write, free_name, private_folder, set_aside, write_all, write_atomically

posix = pytest.mark.skipif(sys.platform == "win32", reason="permission bits and links are those of POSIX")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_write_leaves_nothing_else_behind(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    write_atomically(path, b"one")
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


@posix
def test_permissions_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b"one")
    path.chmod(0o640)
    write_atomically(path, b"two")
    assert mode(path) == 0o640


@posix
def test_a_new_file_gets_what_the_umask_leaves(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a.toml", b"one")
    finally:
        os.umask(old)
    assert mode(tmp_path / "a.toml") == 0o640


@posix
def test_a_private_file_is_private_even_over_an_open_one(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_bytes(b"one")
    path.chmod(0o644)
    write_atomically(path, b"two", private=True)
    assert mode(path) == 0o600


@posix
def test_a_link_stays_a_link_and_its_target_changes(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    target = tmp_path / "dotfiles" / "lab.toml"
    target.write_bytes(b"one")
    link = tmp_path / "lab.toml"
    link.symlink_to(target)
    write_atomically(link, b"two")
    assert link.is_symlink()
    assert target.read_bytes() == b"two"


def test_a_file_that_may_not_be_written_stays_as_it_is(plain_user: Path) -> None:
    path = plain_user / "lab.toml"
    path.write_bytes(b"one")
    path.chmod(0o444)
    with pytest.raises(PermissionError):
        write_atomically(path, b"two")
    assert path.read_bytes() == b"one"
    assert list(plain_user.iterdir()) == [path]


def test_a_folder_that_may_not_be_written_keeps_its_file(plain_user: Path) -> None:
    path = plain_user / "lab.toml"
    path.write_bytes(b"one")
    plain_user.chmod(0o555)
    try:
        with pytest.raises(PermissionError):
            write_atomically(path, b"two")
        assert path.read_bytes() == b"one"
    finally:
        plain_user.chmod(0o700)


def test_all_files_are_written_or_none(tmp_path: Path) -> None:
    first, second, new = tmp_path / "a", tmp_path / "b", tmp_path / "c"
    first.write_bytes(b"one")
    second.mkdir()
    with pytest.raises(OSError):  # noqa: PT011 - which one depends on the system
        write_all([Write(new, b"x"), Write(first, b"two"), Write(second, b"x")])
    assert first.read_bytes() == b"one"
    assert not new.exists()


@posix
def test_a_private_folder_is_made_private(tmp_path: Path) -> None:
    private_folder(tmp_path / "x" / "data")
    assert mode(tmp_path / "x" / "data") == 0o700


def test_setting_aside_never_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    for content in (b"one", b"two"):
        path.write_bytes(content)
        set_aside(path)
    assert (tmp_path / "keys.toml.unreadable-1").read_bytes() == b"one"
    assert (tmp_path / "keys.toml.unreadable-2").read_bytes() == b"two"
    assert free_name(path, "unreadable").name == "keys.toml.unreadable-3"
