"""``pet serve`` as a process: starting, stopping, dying."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sqlite3
import sys
from asyncio.subprocess import PIPE
from contextlib import closing
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import psutil
import pytest

from tests.fakes.openai_server import Pause, Reply, ScriptedProvider
from tests.support.companion import DEADLINE_S, lab_toml
from tests.support.process import environment, places, run_pet, serving

POSIX = sys.platform != "win32"


def write_config(folder: Path, text: str) -> None:
    (folder / "lab.toml").write_text(text, encoding="utf-8")


def get(url: str) -> tuple[int, str]:
    with build_opener(ProxyHandler({})).open(url, timeout=5) as answer:
        return answer.status, answer.read().decode()


async def test_the_first_line_names_the_address_and_healthz_answers_there(tmp_path: Path) -> None:
    async with ScriptedProvider() as provider:
        write_config(tmp_path, lab_toml(provider.base_url))
        async with serving(tmp_path) as pet:
            status, body = await asyncio.to_thread(get, f"{pet.url}/healthz")
            assert status == 200
            assert json.loads(body)["status"] == "ok"
            status, page = await asyncio.to_thread(get, pet.url)
            assert "<html" in page


@pytest.mark.skipif(not POSIX, reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_stop_signal_ends_with_status_0_and_leaves_no_child(tmp_path: Path, number: int) -> None:
    async with ScriptedProvider() as provider:
        provider.script(Reply("So far ", Pause(), "and on."))
        write_config(tmp_path, lab_toml(provider.base_url))
        async with serving(tmp_path) as pet:
            async with pet.page() as page:
                await page.send("send", text="Hi")
                await page.until("delta")
                children = pet.descendants()
                assert await pet.stop(number) == 0
            assert not any(child.is_running() for child in children)
        assert not (tmp_path / "data" / "run.json").exists()


async def test_a_killed_server_has_lost_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    async with ScriptedProvider() as provider:
        write_config(tmp_path, lab_toml(provider.base_url))
        async with serving(tmp_path) as pet, pet.page() as page:
            await page.send("send", text="first")
            await page.until("turn.done")
            provider.script(Reply("So far ", Pause(), "never."))
            await page.send("send", text="second")
            await page.until("turn.start")
            pet.process.kill()
            await pet.process.wait()
        async with serving(tmp_path) as pet, pet.page() as page:
            chat = await page.ask("chat.history")
            assert [message["text"] for message in chat["messages"]][:3] == [
                "first",
                "Hello there.",
                "second",
            ]
            assert all(message["interrupted"] for message in chat["messages"][3:])


async def test_a_port_in_use_is_said_with_what_to_do(tmp_path: Path) -> None:
    write_config(tmp_path, "")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, out, err = await run_pet("serve", "--no-open", "--port", str(port), *places(tmp_path))
    assert status == 1
    assert out == ""
    assert f"Port {port} is in use" in err
    assert "Traceback" not in err


async def test_a_broken_lab_toml_ends_with_2_and_names_file_line_key_and_remedy(tmp_path: Path) -> None:
    write_config(tmp_path, "[chat]\ntemperatur = 0.5\n")
    status, _, err = await run_pet("serve", "--no-open", *places(tmp_path))
    assert status == 2
    assert "lab.toml:2" in err
    assert "chat.temperatur" in err
    assert "temperature" in err.replace("chat.temperatur:", "")


async def test_a_second_companion_on_one_data_folder_is_refused(tmp_path: Path) -> None:
    write_config(tmp_path, "")
    async with serving(tmp_path) as pet:
        status, _, err = await run_pet("serve", "--no-open", "--port", "0", *places(tmp_path))
        assert status == 1
        assert pet.url in err


async def test_a_data_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    write_config(tmp_path, "")
    (tmp_path / "data").write_text("a file in the way")
    status, _, err = await run_pet("serve", "--no-open", "--port", "0", *places(tmp_path))
    assert status == 1
    assert "--data-dir" in err
    assert "Traceback" not in err


async def test_a_frame_too_large_is_answered_and_the_connection_lives_on(tmp_path: Path) -> None:
    async with ScriptedProvider() as provider:
        write_config(tmp_path, lab_toml(provider.base_url))
        async with serving(tmp_path) as pet, pet.page() as page:
            await page.send("send", text="x" * (9 * 1024 * 1024))
            assert (await page.until("error"))["code"] == "too_large"
            await page.send("send", text="Hi")
            assert (await page.until("turn.done"))["text"] == "Hello there."


@pytest.mark.skipif(not POSIX, reason="checks modes that Windows doesn't have")
async def test_the_token_is_readable_by_its_user_alone(tmp_path: Path) -> None:
    write_config(tmp_path, "")
    async with serving(tmp_path) as pet:
        assert len(pet.token()) >= 32
    modes = {path.name: path.stat().st_mode & 0o077 for path in (tmp_path / "data").iterdir()}
    assert [mode for name, mode in modes.items() if "token" in name] == [0]


async def test_say_streams_one_turn_through_the_running_companion(tmp_path: Path) -> None:
    async with ScriptedProvider() as provider:
        write_config(tmp_path, lab_toml(provider.base_url))
        async with serving(tmp_path) as pet, pet.page() as page:
            status, out, err = await run_pet("say", "Hi from the shell", *places(tmp_path))
            assert (status, out.strip(), err) == (0, "Hello there.", "")
            assert (await page.until("turn.start"))["text"] == "Hi from the shell"


async def test_say_works_without_a_running_companion(tmp_path: Path) -> None:
    async with ScriptedProvider() as provider:
        write_config(tmp_path, lab_toml(provider.base_url))
        status, out, _ = await run_pet("say", "Hi", *places(tmp_path))
        assert (status, out.strip()) == (0, "Hello there.")


async def test_say_tells_a_failure_and_exits_with_1(tmp_path: Path) -> None:
    async with ScriptedProvider(api_key="right") as provider:
        write_config(tmp_path, lab_toml(provider.base_url))
        status, out, err = await run_pet("say", "Hi", *places(tmp_path))
        assert (status, out.strip()) == (1, "")
        assert "scripted" in err


async def test_doctor_reports_everything_as_json_and_exits_with_0(tmp_path: Path) -> None:
    async with ScriptedProvider() as provider:
        write_config(tmp_path, lab_toml(provider.base_url))
        status, out, _ = await run_pet("doctor", "--json", *places(tmp_path))
        report = json.loads(out)
        assert (status, report["ok"]) == (0, True)
        verdicts = {(f["subject"], f["name"]): f["verdict"] for f in report["findings"]}
        assert verdicts["provider", "scripted"] == "ok"
        assert verdicts["role", "chat"] == "ok"


async def test_doctor_exits_with_1_when_the_chat_provider_is_down(tmp_path: Path) -> None:
    async with ScriptedProvider() as provider:
        write_config(tmp_path, lab_toml(provider.base_url))
    status, out, _ = await run_pet("doctor", *places(tmp_path))
    assert status == 1
    assert "scripted" in out


async def test_doctor_exits_with_2_for_an_invalid_file(tmp_path: Path) -> None:
    write_config(tmp_path, "nonsense = [")
    status, out, _ = await run_pet("doctor", *places(tmp_path))
    assert status == 2
    assert "lab.toml:1" in out


async def test_models_lists_every_provider_at_once(tmp_path: Path) -> None:
    async with ScriptedProvider(models=["b", "a"]) as provider:
        write_config(tmp_path, lab_toml(provider.base_url))
        status, out, _ = await run_pet("models", *places(tmp_path))
        lines = [line.strip() for line in out.splitlines()]
        assert status == 0
        assert lines.index("a") < lines.index("b")


async def test_no_process_of_a_killed_server_outlives_it(tmp_path: Path) -> None:
    write_config(tmp_path, '[agent.models.chat]\nprovider = "builtin"\n')
    async with serving(tmp_path) as pet:
        async with pet.page() as page:
            while page.welcome["state"] != "ready":
                page.welcome = await page.until("state")
        children = pet.descendants()
        assert children
        pet.process.kill()
        await pet.process.wait()
        async with asyncio.timeout(DEADLINE_S):
            await asyncio.to_thread(psutil.wait_procs, children)
    assert not any(child.is_running() for child in children)


@pytest.mark.skipif(not POSIX, reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_stop_signal_while_it_still_starts_ends_it_quietly_with_status_0(
    tmp_path: Path, number: int
) -> None:
    """The signal comes as soon as the handlers hold, long before the imports are done."""
    write_config(tmp_path, "")
    program = (
        "import os, sys; from server.cli import signals; signals.leave_quietly(); "
        f"sys.argv[1:] = {['serve', '--no-open', '--port', '0', *places(tmp_path)]!r}; "
        f"os.kill(os.getpid(), {int(number)}); from server.cli import main; main()"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=PIPE, stderr=PIPE, env=environment()
    )
    async with asyncio.timeout(30):
        out, err = await process.communicate()
    assert (process.returncode, out, err) == (0, b"", b"")


@pytest.mark.skipif(not POSIX, reason="Windows has no such signals")
async def test_a_second_signal_while_it_stops_changes_nothing(tmp_path: Path) -> None:
    async with ScriptedProvider() as provider:
        provider.script(Reply("So far ", Pause(), "and on."))
        write_config(tmp_path, lab_toml(provider.base_url))
        async with serving(tmp_path) as pet, pet.page() as page:
            await page.send("send", text="Hi")
            await page.until("delta")
            pet.process.send_signal(signal.SIGTERM)
            await page.until("turn.cancelled")
            assert await pet.stop(signal.SIGINT) == 0


@pytest.mark.skipif(not POSIX, reason="Windows has no hangup")
async def test_a_hangup_stops_it_like_any_stop_signal(tmp_path: Path) -> None:
    write_config(tmp_path, "")
    async with serving(tmp_path) as pet:
        assert await pet.stop(signal.SIGHUP) == 0
    assert not (tmp_path / "data" / "run.json").exists()


@pytest.mark.skipif(not POSIX, reason="Windows has no such signals")
async def test_a_database_that_another_process_locks_does_not_hold_up_the_stop(tmp_path: Path) -> None:
    async with ScriptedProvider() as provider:
        write_config(tmp_path, lab_toml(provider.base_url))
        async with serving(tmp_path) as pet, pet.page() as page:
            await page.send("send", text="first")
            await page.until("turn.done")
            with closing(sqlite3.connect(tmp_path / "data" / "pet.db", isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                for number in range(8):
                    await page.send("send", text=f"message {number}")
                await page.until("turn.start")
                assert await pet.stop() == 0
            err = await pet.process.stderr.read() if pet.process.stderr else b""
            assert b"Traceback" not in err
