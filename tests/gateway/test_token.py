from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from server.gateway.token import OneTimeCodes, TokenFile


def test_a_token_is_made_once_and_kept(tmp_path: Path) -> None:
    token = TokenFile(tmp_path / "data").read()
    assert len(token) >= 43
    assert TokenFile(tmp_path / "data").read() == token
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["token"]


def test_two_companions_have_two_tokens(tmp_path: Path) -> None:
    assert TokenFile(tmp_path / "a").read() != TokenFile(tmp_path / "b").read()


@pytest.mark.skipif(os.name != "posix", reason="elsewhere the user's folder keeps others out")
def test_the_token_is_readable_by_the_user_alone(tmp_path: Path) -> None:
    TokenFile(tmp_path).read()
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
    (tmp_path / "token").chmod(0o644)
    TokenFile(tmp_path).read()
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"\n", b"short", b"x" * 42, b"x" * 4000, b"\xff" * 50, b"a b" * 20])
def test_a_damaged_token_is_made_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "token").write_bytes(content)
    token = TokenFile(tmp_path).read()
    assert len(token) == 43
    assert TokenFile(tmp_path).read() == token


def test_deleting_the_file_makes_the_old_token_worthless(tmp_path: Path) -> None:
    file = TokenFile(tmp_path)
    old = file.read()
    assert file.matches(old)
    (tmp_path / "token").unlink()
    assert not file.matches(old)
    assert file.matches(file.read())


@pytest.mark.parametrize(
    "presented", ["", "x", "é", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")]
)
def test_anything_else_is_no_token(tmp_path: Path, presented: str) -> None:
    assert not TokenFile(tmp_path).matches(presented)


def test_where_no_token_can_be_kept_none_is_right(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    file = TokenFile(tmp_path / "file")
    with pytest.raises(OSError, match=r".+"):
        file.read()
    assert not file.matches("")


def test_processes_that_start_at_once_agree_on_one_token(tmp_path: Path) -> None:
    for attempt in range(10):
        barrier = Barrier(8)

        def read(folder: Path = tmp_path / str(attempt), barrier: Barrier = barrier) -> str:
            barrier.wait()
            return TokenFile(folder).read()

        with ThreadPoolExecutor(8) as pool:
            tokens = {made.result() for made in [pool.submit(read) for _ in range(8)]}
        assert len(tokens) == 1


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_code_is_worth_something_once() -> None:
    codes = OneTimeCodes()
    code = codes.issue()
    assert not codes.redeem("x" + code)
    assert not codes.redeem("")
    assert not codes.redeem("é")
    assert codes.redeem(code)
    assert not codes.redeem(code)


def test_a_code_lives_for_a_minute() -> None:
    clock = Clock()
    codes = OneTimeCodes(clock)
    early, late = codes.issue(), codes.issue()
    clock.now += 59.9
    assert codes.redeem(early)
    clock.now += 0.1
    assert not codes.redeem(late)


def test_too_many_codes_push_the_oldest_out() -> None:
    codes = OneTimeCodes()
    issued = [codes.issue() for _ in range(20)]
    assert [codes.redeem(code) for code in issued] == [False] * 4 + [True] * 16
