"""Turns that need a fact from outside: the tool model gathers, the chat model talks."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from pathlib import Path

from PIL import Image

from server.agent.trace import CallProgress
from server.protocol import ServerMessage
from server.session.toolwork import ToolWork
from server.session.waiting import WaitingLine
from tests.fakes.openai_server import Hang, Pause, Reply, ScriptedProvider, Status
from tests.support.companion import Companion, companion
from tests.support.roles import ALWAYS, ENDS, READ, UNSURE, WORKSPACE, Roles, call, nothing, turn


async def test_a_tool_turn_shows_its_calls_and_answers_from_their_results(
    roles: Roles, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("the secret word is marmalade\n")
    roles.tool.script(call("tool__read_file", path="notes.txt"), nothing())
    roles.chat.script(Reply("It says marmalade."))
    async with companion(tmp_path, roles.config(WORKSPACE)) as pet:
        page = await pet.talker()
        done = await turn(page, READ)
    assert (done["type"], done["text"]) == ("turn.done", "It says marmalade.")
    assert next(frame["path"] for frame in page.frames if frame["type"] == "turn.route") == "tool"
    start, end = (frame for frame in page.frames if frame["type"].startswith("tool."))
    assert (start["name"], start["step"]) == ("tool__read_file", 1)
    assert (end["outcome"], end["call_id"]) == ("ok", start["call_id"])
    assert "marmalade" not in json.dumps(end)
    assert "[Tool Call Summary]" in roles.composed()
    assert "marmalade" in roles.composed()
    assert set(done["usage"]) == {"chat", "tool"}
    assert "tools" not in roles.chat.requests[-1].body


async def test_a_tool_model_that_cannot_be_reached_does_not_end_the_turn(
    roles: Roles, tmp_path: Path
) -> None:
    await roles.tool.stop()
    async with companion(tmp_path, roles.config(WORKSPACE)) as pet:
        page = await pet.talker()
        done = await turn(page, READ)
    assert done["type"] == "turn.done"
    assert "tools were unavailable" in roles.composed()


async def test_a_failing_tool_does_not_end_the_turn_and_the_chat_model_knows(
    roles: Roles, tmp_path: Path
) -> None:
    roles.tool.script(call("tool__read_file", path="missing.txt"), nothing())
    async with companion(tmp_path, roles.config(WORKSPACE)) as pet:
        page = await pet.talker()
        done = await turn(page, READ)
    assert done["type"] == "turn.done"
    assert [frame["outcome"] for frame in page.frames if frame["type"] == "tool.end"] == ["error"]
    assert "failed" in roles.composed()


async def test_with_both_a_turn_that_needs_no_tool_is_answered_as_if_it_had_been_fast(
    roles: Roles, tmp_path: Path
) -> None:
    """The chat model is asked while the tool model still thinks, once, and its words wait."""
    roles.tool.default = nothing()
    roles.tool.script(Reply(Pause(), "nothing to do"))
    roles.chat.script(Reply("Straight away."))
    async with companion(tmp_path, roles.config(ALWAYS)) as pet:
        page = await pet.talker()
        await page.send("send", text=UNSURE)
        await roles.tool.paused()
        await roles.chat.request_received()
        assert page.types("delta") == []
        roles.tool.release()
        done = await page.until(*ENDS)
    assert (done["type"], done["text"]) == ("turn.done", "Straight away.")
    assert len(roles.chat.requests) == 1


async def test_with_both_an_answer_begun_in_vain_is_dropped_unseen_when_a_tool_is_called(
    roles: Roles, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("the fact\n")
    called = call("tool__read_file", path="notes.txt")
    roles.tool.script(Reply(Pause(), finish="tool_calls", tool_calls=called.tool_calls), nothing())
    roles.chat.script(Reply("A guess ", Pause(), "never shown"), Reply("The fact."))
    async with companion(tmp_path, roles.config(ALWAYS)) as pet:
        page = await pet.talker()
        await page.send("send", text=UNSURE)
        await roles.tool.paused()
        await roles.chat.paused()
        roles.tool.release()
        done = await page.until(*ENDS)
        await roles.chat.client_gone()
    assert (done["text"], page.said()) == ("The fact.", "The fact.")
    assert len(roles.chat.requests) == 2


async def test_a_turn_stopped_while_tools_run_stops_them(roles: Roles, tmp_path: Path) -> None:
    roles.tool.script(Hang())
    async with companion(tmp_path, roles.config(WORKSPACE)) as pet:
        page = await pet.talker()
        await page.send("send", text=READ)
        await roles.tool.request_received()
        answer = await page.ask("cancel")
        assert (answer["type"], answer["text"]) == ("turn.cancelled", "")
        await roles.tool.client_gone()
    assert roles.chat.requests == []


async def test_the_tool_model_is_sent_the_state_and_the_recent_window_only_when_it_depends(
    roles: Roles, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("one\n")
    async with companion(tmp_path, roles.config(WORKSPACE)) as pet:
        page = await pet.talker()
        roles.tool.script(call("tool__read_file", path="notes.txt"), nothing())
        await turn(page, READ)
        first = roles.tool.requests[0].body["messages"]
        roles.tool.script(nothing())
        await turn(page, "再读一遍那个文件")
        second = roles.tool.requests[-1].body["messages"]
    assert [message["role"] for message in first] == ["system", "system", "user"]
    assert "Tama" not in json.dumps(first)
    assert first[1]["content"].startswith("TOOL_ROUTER_STATE")
    assert '"last_file":"notes.txt"' in second[1]["content"].replace(" ", "")
    assert len(second) > 3
    assert "notes.txt" in second[-1]["content"]


def png(colour: tuple[int, int, int]) -> str:
    buffer = io.BytesIO()
    Image.new("RGB", (64, 48), colour).save(buffer, "PNG")
    return base64.b64encode(buffer.getvalue()).decode()


async def test_a_chat_model_that_sees_gets_the_users_picture(roles: Roles, tmp_path: Path) -> None:
    config = roles.config().replace(
        'model = "scripted-chat"', 'model = "scripted-chat"\nsupports_vision = true', 1
    )
    async with companion(tmp_path, config) as pet:
        page = await pet.talker()
        await turn(page, "thanks", images=[{"mime": "image/png", "data": png((255, 0, 0))}])
    parts = roles.chat.requests[-1].body["messages"][-1]["content"]
    assert any(part["type"] == "image_url" for part in parts)


async def test_a_chat_model_that_cannot_see_gets_the_vision_models_words(
    roles: Roles, tmp_path: Path
) -> None:
    async with ScriptedProvider() as eyes:
        eyes.default = Reply("A red rectangle.")
        extra = f"""
[llm.providers.eyes]
base_url = "{eyes.base_url}"
[agent.models.vision]
provider = "eyes"
model = "scripted-chat"
"""
        async with companion(tmp_path, roles.config(extra)) as pet:
            page = await pet.talker()
            done = await turn(page, "thanks", images=[{"mime": "image/png", "data": png((255, 0, 0))}])
    assert "A red rectangle." in roles.composed()
    seen = next(frame for frame in page.frames if frame["type"] == "vision")
    assert (seen["images"], seen["outcome"]) == (1, "ok")
    assert "vision" in done["usage"]


async def test_a_picture_that_nobody_could_look_at_is_told_as_not_seen(roles: Roles, tmp_path: Path) -> None:
    async with companion(tmp_path, roles.config()) as pet:
        page = await pet.talker()
        await turn(page, "thanks", images=[{"mime": "image/png", "data": png((0, 255, 0))}])
    assert "image not seen" in roles.composed()
    assert "image_not_seen" in [frame["code"] for frame in page.frames if frame["type"] == "notice"]


async def test_a_waiting_line_is_said_once_and_only_when_it_takes_long() -> None:
    said: list[str] = []
    with WaitingLine(["hold on"], said.append, after_s=0):
        for _ in range(3):
            await asyncio.sleep(0)
    with WaitingLine(["hold on"], said.append, after_s=60):
        await asyncio.sleep(0)
    assert said == ["hold on"]


async def test_the_user_hears_once_that_the_tool_model_cannot_be_asked(roles: Roles, tmp_path: Path) -> None:
    roles.tool.default = Status(401)
    async with companion(tmp_path, roles.config(WORKSPACE)) as pet:
        page = await pet.talker()
        for _ in range(2):
            assert (await turn(page, READ))["type"] == "turn.done"
    notices = [frame["code"] for frame in page.frames if frame["type"] == "notice"]
    assert notices.count("tools_unreachable") == 1


async def test_a_flood_of_progress_used_up_the_replay(pet: Companion) -> None:
    told: list[ServerMessage] = []
    session = await pet.app.sessions.shared()
    work = ToolWork(1, session.bench, pet.app.store.effective, told.append)
    for number in range(20_000):
        work.tell(CallProgress("c1", number, 20_000, None))
    assert 1 <= len(told) < 100
