"""What commands print, and where they can't."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from server.cli.output import printable
from tests.fakes.openai_server import Reply, ScriptedProvider
from tests.support.companion import lab_toml
from tests.support.process import environment, places, run_pet

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no full device on this system")


async def pet_into(target: Path, *arguments: str) -> tuple[int, str]:
    """Runs ``pet ARGUMENTS`` with its standard output going to ``target``: exit status, stderr."""
    with target.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "server.cli", *arguments),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        async with asyncio.timeout(60):
            _, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, err.decode()


def test_what_a_terminal_obeys_is_left_out_and_what_it_shows_stays() -> None:
    assert (
        printable("a\x1b]0;title\x07\x1b[31mb\x9b2J\r\x00\x7f\tc\n你好 é 👋🏽\u202e!")
        == "a]0;title[31mb2J\tc\n你好 é 👋🏽!"
    )


async def test_escapes_of_a_model_do_not_reach_the_terminal_through_say(tmp_path: Path) -> None:
    async with ScriptedProvider() as provider:
        provider.script(Reply("red \x1b[31m", "\x1b]52;c;aGk=\x07clip", "\x9b2J."))
        (tmp_path / "lab.toml").write_text(
            lab_toml(provider.base_url, extra="[agent]\nenable_tools = false\n")
        )
        status, out, _ = await run_pet("say", "Hi", *places(tmp_path))
    assert status == 0
    assert "clip" in out
    assert not set(out) & {"\x1b", "\x07", "\x9b"}


@needs_full
@pytest.mark.parametrize(
    "command", [["doctor", "--json"], ["doctor"], ["config", "path"], ["--help"], ["token"]]
)
async def test_a_full_standard_output_ends_with_1_and_one_line(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "lab.toml").write_text('[agent.models.chat]\nprovider = "nobody"\n', encoding="utf-8")
    where = [] if command == ["--help"] else places(tmp_path)
    status, err = await pet_into(FULL, *command, *where)
    assert status == 1
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1


@needs_full
async def test_say_tells_that_its_output_is_not_taken_instead_of_blaming_the_companion(
    tmp_path: Path,
) -> None:
    async with ScriptedProvider() as provider:
        (tmp_path / "lab.toml").write_text(lab_toml(provider.base_url), encoding="utf-8")
        status, err = await pet_into(FULL, "say", "Hi", *places(tmp_path))
    assert status == 1
    assert "output could not be written" in err
    assert "reached" not in err


@pytest.mark.parametrize("command", [["say", "Hi"], ["token"], ["doctor"]])
async def test_a_token_that_cannot_be_read_is_said(tmp_path: Path, command: list[str]) -> None:
    async with ScriptedProvider() as provider:
        (tmp_path / "lab.toml").write_text(lab_toml(provider.base_url), encoding="utf-8")
        (tmp_path / "data" / "token").mkdir(parents=True)
        status, out, err = await run_pet(*command, *places(tmp_path))
    assert status == 1
    assert "Traceback" not in err
    assert "token" in out + err


async def test_options_before_the_command_were_ignored(tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_text("", encoding="utf-8")
    status, out, _ = await run_pet(*places(tmp_path), "config", "path")
    assert (status, Path(out.strip())) == (0, tmp_path / "lab.toml")
    status, _, _ = await run_pet(*places(tmp_path), "token")
    assert status == 0
    assert (tmp_path / "data" / "token").exists()
