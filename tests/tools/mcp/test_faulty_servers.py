"""What becomes of servers that fail, on real processes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from tests.support.calls import Context
from tests.support.mcp_house import DEADLINE_S, House, faulty, house, table
from tests.support.processes import alive, gone
from tools.contract import TextPart, ToolFailure
from tools.mcp.stdio import MAX_MESSAGE_BYTES

# Other servers must not notice: each test with a server that hangs has a healthy one beside it.
HEALTHY = faulty(name="ok")


async def test_a_server_that_ends_at_start_shows_its_last_words_without_keys_and_folders(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, faulty("exit"), HEALTHY) as it:
        await it.ready("ok")
        await it.until(lambda: it.state() == "failed" and "GITHUB_TOKEN" in it.error())
        assert it.error() == (
            "It ended with exit code 3.\nIt last said:\nError: GITHUB_TOKEN=••• is wrong in server.py"
        )
        assert all(name.startswith("ok__") for name in it.names())


async def test_a_server_that_ends_at_start_is_tried_again_later(tmp_path: Path) -> None:
    async with house(tmp_path, faulty("exit_once")) as it:
        await it.ready()
        assert len(it.pids()) == 2


async def test_a_program_that_is_not_there_fails_at_once_and_says_which(tmp_path: Path) -> None:
    async with house(tmp_path, table("x", command="no-such-program-anywhere"), HEALTHY) as it:
        async with asyncio.timeout(DEADLINE_S):
            await it.servers["x"].settled.wait()
        assert it.state() == "failed"
        assert "“no-such-program-anywhere” isn't installed" in it.error()
        await it.ready("ok")


async def test_a_server_that_hangs_at_initialise_has_a_deadline_and_delays_nobody(tmp_path: Path) -> None:
    async with house(tmp_path, faulty("hang", start_timeout_s=3), HEALTHY) as it:
        await it.ready("ok")
        assert it.state() == "starting"
        await it.until(lambda: it.state() == "failed")
        assert it.error() == "It didn't get ready within 3 s.\nIt last said:\nwaiting for a browser"
        assert await it.says("ok__echo", text="hello") == "hello"


async def test_one_that_floods_stderr_works_and_only_the_end_is_kept(tmp_path: Path) -> None:
    async with house(tmp_path, faulty("flood")) as it:
        await it.ready()
        assert await it.says("x__echo", text="hello") == "hello"
        with pytest.raises(ToolFailure, match="TOKEN=•••"):
            await it.call("x__die")
        await it.until(lambda: it.error())
        assert len(it.error()) < 2100


async def test_garbage_on_stdout_is_passed_over(tmp_path: Path) -> None:
    async with house(tmp_path, faulty("garbage")) as it:
        await it.ready()
        assert await it.says("x__echo", text="hello") == "hello"


async def test_an_answer_to_another_request_answers_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, faulty("wrong_id", timeout_s=0.5)) as it:
        await it.ready()
        with pytest.raises(ToolFailure, match=r"did not answer within 0\.5 s"):
            await it.call("x__echo", text="hello")
        assert "hello" not in json.dumps(await it.says("x__cancelled"))


async def test_a_server_that_dies_in_a_call_fails_it_at_once_and_comes_back(tmp_path: Path) -> None:
    async with house(tmp_path, faulty(timeout_s=60)) as it:
        await it.ready()
        waiting = asyncio.create_task(it.call("x__wait"))
        with pytest.raises(ToolFailure) as failure:
            await it.call("x__die")
        assert str(failure.value) == (
            "The MCP server x was lost during the call and is started anew. It ended with exit code 9. "
            "It last said: dying of TOKEN=••• in server.py"
        )
        async with asyncio.timeout(DEADLINE_S):
            with pytest.raises(ToolFailure, match="was lost"):
                await waiting
        await it.until(lambda: it.state() == "restarting")
        assert "x__echo" in it.names()
        assert await it.says("x__echo", text="back") == "back"
        assert len(it.pids()) == 2
        await gone(it.pids()[0])


async def test_cancelling_a_call_tells_the_server(tmp_path: Path) -> None:
    async with house(tmp_path, faulty(timeout_s=60)) as it:
        await it.ready()
        for _ in range(5):
            waiting = asyncio.create_task(it.call("x__wait"))
            await asyncio.sleep(0)
            await it.says("x__echo", text="the call before has arrived")
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        assert len(json.loads(await it.says("x__cancelled"))) == 5
        assert len(it.pids()) == 1


async def test_after_three_calls_without_answer_in_a_row_the_server_is_started_anew(tmp_path: Path) -> None:
    async with house(tmp_path, faulty(timeout_s=0.2)) as it:
        await it.ready()
        for answered in (True, False):
            for _ in range(2 if answered else 3):
                with pytest.raises((ToolFailure, TimeoutError)):
                    async with asyncio.timeout(0.2):
                        await it.call("x__wait")
            if answered:
                assert await it.says("x__echo", text="still there") == "still there"
        await it.until(lambda: it.state() != "ready")
        assert "3 calls" in it.error()
        await it.ready()
        assert await it.says("x__echo", text="hello") == "hello"
        assert len(it.pids()) == 2
        await gone(it.pids()[0])


async def test_a_server_that_stops_reading_holds_nobody_up(tmp_path: Path) -> None:
    async with house(tmp_path, faulty("deaf", timeout_s=0.5)) as it:
        await it.ready()
        assert await it.says("x__echo", text="the last thing that it hears") == "the last thing that it hears"
        calls = [asyncio.create_task(it.call("x__echo", text="y" * 500_000)) for _ in range(8)]
        async with asyncio.timeout(DEADLINE_S):
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(outcome, ToolFailure) for outcome in outcomes)
        await it.until(lambda: len(it.pids()) == 2 and it.state() == "ready")


async def test_62_megabytes_are_refused_while_they_arrive_and_the_server_lives_on(tmp_path: Path) -> None:
    async with house(tmp_path, faulty(timeout_s=40)) as it:
        await it.ready()
        with pytest.raises(ToolFailure, match=r"^The answer was larger than 16 MB\. Ask for less\.$"):
            await it.call("x__huge", text=str(62 * 1024 * 1024))
        assert len(await it.says("x__huge", text=str(MAX_MESSAGE_BYTES // 2))) == MAX_MESSAGE_BYTES // 2
        assert len(it.pids()) == 1


async def test_bytes_that_are_no_text_and_numbers_that_are_none_do_no_harm(tmp_path: Path) -> None:
    async with house(tmp_path, faulty()) as it:
        await it.ready()
        assert await it.says("x__bytes") == "a\ufffd\ufffdb"
        result = await it.call("x__nan")
        assert "nan" in repr(result.parts)


async def test_failures_are_short_and_name_no_folder(tmp_path: Path) -> None:
    async with house(tmp_path, faulty()) as it:
        await it.ready()
        with pytest.raises(ToolFailure, match=r"^no such thing: x$"):
            await it.call("x__fail")
        (odd,) = [name for name in it.names() if name.startswith("x__fake_error")]
        with pytest.raises(ToolFailure, match=r"^Unknown tool: fake error in x\.js$"):
            await it.call(odd)


async def test_progress_reaches_the_turn(tmp_path: Path) -> None:
    async with house(tmp_path, faulty()) as it:
        await it.ready()
        context = Context()
        result = await it.call("x__progress", context)
        assert result.parts[0] == TextPart("done")
        assert context.told == [(1.0, 2.0, "step 1"), (2.0, 2.0, "step 2")]


async def test_a_changed_list_of_tools_is_taken_over(tmp_path: Path) -> None:
    async with house(tmp_path, faulty()) as it:
        await it.ready()
        assert "x__grown0" not in it.names()
        await it.call("x__grow")
        await it.until(lambda: "x__grown0" in it.names())
        await it.call("x__grow")
        await it.until(lambda: "x__grown1" in it.names())
        assert it.state() == "ready"


async def test_all_pages_of_tools_are_read_and_an_endless_list_ends(tmp_path: Path) -> None:
    async with house(tmp_path, faulty("pages")) as it:
        await it.ready()
        assert len(it.names()) == 11


async def test_tools_that_no_model_can_be_shown_are_left_out(tmp_path: Path) -> None:
    async with house(tmp_path, faulty("bad_schemas")) as it:
        await it.ready()
        assert len(it.names()) == 11
        assert not {"x__big", "x__deep"} & set(it.names())


async def test_a_list_of_tools_that_is_none_is_named_as_the_servers_fault(tmp_path: Path) -> None:
    async with house(tmp_path, faulty("no_schema")) as it:
        await it.until(lambda: it.state() == "failed")
        assert it.error().startswith("It doesn't speak MCP as expected: tools.11.inputSchema.type: ")


async def test_only_allowed_tools_join_and_denied_ones_never(tmp_path: Path) -> None:
    async with house(tmp_path, faulty(allow=["echo", "fail", "missing"], deny=["fail"])) as it:
        await it.ready()
        assert it.names() == ["x__echo"]


async def test_a_server_that_must_be_greeted_first_is_greeted(tmp_path: Path) -> None:
    async with house(tmp_path, faulty("strict")) as it:
        await it.ready()
        assert await it.says("x__echo", text="hello") == "hello"


@pytest.mark.parametrize("fault", ["stubborn", "hang", "exit", "deaf"])
async def test_closing_ends_any_server_and_its_process_in_time(fault: str, tmp_path: Path) -> None:
    async with house(tmp_path, faulty(fault, "stubborn", start_timeout_s=2 if fault == "hang" else 20)) as it:
        if fault in ("exit", "hang"):
            await it.until(lambda: it.state() == "failed")
        else:
            await it.ready()
            await it.call("x__echo", text="x")
        async with asyncio.timeout(10):
            await it.servers.aclose()
    await gone(*it.pids())


async def test_closing_ends_a_server_that_still_starts(tmp_path: Path) -> None:
    async with house(tmp_path, faulty("hang", "stubborn"), HEALTHY) as it:
        await it.ready("ok")
        assert it.state() == "starting"
        async with asyncio.timeout(10):
            await it.servers.aclose()
    await gone(*it.pids())


async def test_closing_takes_less_than_two_seconds_by_our_own_clock() -> None:
    """The bounds of each step add up to that; a loaded machine may take longer."""
    from tools import process

    assert process.TERMINATE_AFTER_S + process.KILL_AFTER_S + process._REAP_S < 2


async def test_cancelling_whoever_closes_leaves_no_process(tmp_path: Path) -> None:
    async with house(tmp_path, faulty("stubborn")) as it:
        await it.ready()
        closing = asyncio.create_task(it.servers.aclose())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await gone(*it.pids())


COMPANION = """
import asyncio, sys
from pathlib import Path
from server.config.store import ConfigStore
from tools.mcp.servers import McpServers

async def main():
    servers = McpServers(ConfigStore(Path("lab.toml"), Path("data")))
    servers.start()
    await servers.settled()
    print(*(status.state for status in servers.status()), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="job objects are closed by the system")
async def test_no_server_survives_a_companion_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_text(faulty("stubborn") + faulty("stubborn", name="y"), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    companion = await asyncio.create_subprocess_exec(
        sys.executable, "-c", COMPANION, cwd=tmp_path, env=environment, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(DEADLINE_S):
        assert companion.stdout is not None
        assert await companion.stdout.readline() == b"ready ready\n"
        pids = [int(line) for line in (tmp_path / "pids").read_text(encoding="utf-8").split()]
        assert all(map(alive, pids))
        companion.kill()
        await companion.wait()
    await gone(*pids)


async def test_a_started_server_shows_in_the_status_what_it_is_doing(tmp_path: Path) -> None:
    off = faulty(name="off", enabled=False)
    async with house(tmp_path, faulty(), off, faulty("exit", name="bad")) as it:
        assert {status.name: status.state for status in it.servers.status()} == {
            "x": "starting",
            "off": "disabled",
            "bad": "starting",
        }
        async with asyncio.timeout(DEADLINE_S):
            await it.servers.settled()
        states = {status.name: (status.state, status.tools) for status in it.servers.status("zh-CN")}
        assert states == {"x": ("ready", 11), "off": ("disabled", 0), "bad": ("failed", 0)}


async def switch(it: House, **changes: object) -> None:
    dotted = {name.replace("__", "."): value for name, value in changes.items()}
    await it.store.update(it.store.revision, dotted)


async def test_the_switch_for_mcp_ends_the_servers_and_starts_them_again(tmp_path: Path) -> None:
    async with house(tmp_path, faulty()) as it:
        await it.ready()
        await switch(it, agent__enable_mcp=False)
        assert it.names() == []
        assert it.state() == "disabled"
        await gone(*it.pids())
        await switch(it, agent__enable_mcp=True)
        await it.ready()
        assert len(it.pids()) == 2


async def test_an_edit_of_lab_toml_touches_only_the_servers_that_it_changes(tmp_path: Path) -> None:
    async with house(tmp_path, faulty(), faulty(name="gone"), HEALTHY) as it:
        await it.ready("x", "gone", "ok")
        before = {name: it.servers[name].pid for name in ("x", "gone", "ok")}
        it.path.write_text(faulty(deny=["die"]) + HEALTHY + faulty(name="new"), encoding="utf-8")
        assert await it.store.reload()
        await it.until(lambda: {status.name for status in it.servers.status()} == {"x", "ok", "new"})
        await it.ready("x", "ok", "new")
        assert it.servers["ok"].pid == before["ok"]
        assert it.servers["x"].pid != before["x"]
        assert "x__die" not in it.names()
        await gone(*(pid for name, pid in before.items() if name != "ok" and pid is not None))


async def test_starting_returns_at_once_whatever_the_servers_do(tmp_path: Path) -> None:
    async with house(tmp_path, faulty("hang"), faulty("exit", name="y"), HEALTHY) as it:
        assert {status.state for status in it.servers.status()} == {"starting"}
        await it.ready("ok")
        assert all(alive(pid) for pid in [it.servers["ok"].pid or 0])


async def test_changing_a_server_again_and_again_leaves_no_process_and_no_task(tmp_path: Path) -> None:
    async with house(tmp_path, faulty(timeout_s=30)) as it:
        await it.ready()
        tasks = len(asyncio.all_tasks())
        for number in range(5):
            it.path.write_text(faulty(timeout_s=31 + number), encoding="utf-8")
            assert await it.store.reload()
            await it.ready()
        assert len(it.pids()) == 6
        await gone(*it.pids()[:-1])
        assert len(asyncio.all_tasks()) <= tasks + 1
    await gone(*it.pids())
