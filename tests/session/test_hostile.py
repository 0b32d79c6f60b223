"""What a hostile tester broke, kept: each test is named after what was seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from server.session.manager import MAX_SESSIONS
from tests.fakes.openai_server import Hang, Pause, Reply, ScriptedProvider
from tests.support.companion import NO_TOOLS, Companion, companion, lab_toml
from tests.support.roles import Roles, call

ENDS = ("turn.done", "turn.error", "turn.cancelled")
HALVES = ("\ud83d", "\ude00")


@pytest.mark.parametrize("interruption", ["send", "cancel", "chat.clear"])
async def test_a_request_while_a_reply_is_being_stored_killed_the_connection(
    provider: ScriptedProvider, tmp_path: Path, interruption: str
) -> None:
    config = lab_toml(provider.base_url, extra=f"{NO_TOOLS}[limits]\nturns_per_minute = 1000")
    async with companion(tmp_path, config) as pet:
        page = await pet.talker()
        for _ in range(20):
            await page.ask("send", text="Hi")
            await page.until("delta")
            fields = {"text": "next"} if interruption == "send" else {}
            assert (await page.ask(interruption, **fields))["type"] != "error"
        assert (await page.ask("status"))["type"] == "status"


async def test_a_reply_that_was_shown_whole_is_stored_whole_although_it_is_replaced(
    pet: Companion, provider: ScriptedProvider
) -> None:
    page = await pet.talker()
    for _ in range(10):
        await page.ask("send", text="Hi")
        await page.match(lambda frame: frame["type"] == "sentence")
        await page.ask("cancel")
    messages = (await page.ask("chat.history"))["messages"]
    replies = [message for message in messages if message["role"] == "assistant"]
    assert replies
    assert {message["text"] for message in replies if not message["interrupted"]} <= {"Hello there."}


async def test_an_emoji_cut_between_two_chunks_failed_the_turn(
    pet: Companion, provider: ScriptedProvider
) -> None:
    provider.script(Reply("so ", HALVES[0], HALVES[1], " good"))
    page = await pet.talker()
    await page.send("send", text="Hi")
    end = await page.until(*ENDS)
    assert (end["type"], end["text"]) == ("turn.done", "so 😀 good")


@pytest.mark.parametrize("text", ["\ud83d", "a \udc00 b", "\ude00\ud83d"])
async def test_half_a_character_hung_or_failed_the_turn(
    pet: Companion, provider: ScriptedProvider, text: str
) -> None:
    thinking = {"choices": [{"index": 0, "delta": {"reasoning_content": text}}]}
    provider.script(Reply(thinking, "said ", text, finish="stop"))
    page = await pet.talker()
    await page.send("send", text="Hi")
    end = await page.until(*ENDS)
    assert end["type"] == "turn.done"
    assert "\ufffd" in end["text"]


async def test_half_a_character_in_the_finish_reason_failed_a_shown_reply(
    pet: Companion, provider: ScriptedProvider
) -> None:
    provider.script(Reply("fine", finish="\ud800" + "x" * 10_000))
    page = await pet.talker()
    await page.send("send", text="Hi")
    end = await page.until(*ENDS)
    assert end["type"] == "turn.done"
    assert len(end["finish_reason"]) <= 40


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "nope", "id": "\ud800"},
        {"type": "status", "id": "\ud800"},
        {"type": "models.list", "id": "m", "provider": "\ud800"},
        {"type": "send", "id": "s", "text": "\ud800 hello"},
    ],
)
async def test_half_a_character_from_a_client_killed_the_connection(
    pet: Companion, frame: dict[str, str]
) -> None:
    page = await pet.talker()
    await page.client.receive(json.dumps(frame))
    await page.match(lambda answer: "re" in answer)
    assert (await page.ask("status"))["type"] == "status"


async def test_a_provider_that_counts_absurdly_used_up_the_day(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.default = Reply("ok", usage=(10**29, 1))
    config = lab_toml(provider.base_url, extra=f"{NO_TOOLS}[limits]\ndaily_tokens = 100000")
    async with companion(tmp_path, config) as pet:
        page = await pet.talker()
        for _ in range(2):
            await page.send("send", text="Hi")
            assert (await page.until(*ENDS))["type"] == "turn.done"


async def test_new_sessions_piled_up_without_bound(pet: Companion) -> None:
    page = await pet.talker()
    for _ in range(MAX_SESSIONS + 20):
        await page.hello(new=True)
    assert len(pet.app.sessions) <= MAX_SESSIONS + 1


async def test_a_session_that_nobody_spoke_in_is_not_stored(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    config = lab_toml(provider.base_url)
    async with companion(tmp_path, config) as pet:
        silent = await pet.stranger().hello(new=True)
        shared = await pet.stranger().hello()
    async with companion(tmp_path, config) as pet:
        assert (await pet.stranger().hello(session=silent["session"]))["session"] == shared["session"]


@pytest.mark.parametrize("text", ["", " \n", "x" * 8001])
async def test_another_agent_could_say_nothing_or_a_megabyte(pet: Companion, text: str) -> None:
    page = await pet.talker()
    assert (await page.ask("say", text=text))["type"] == "error"


async def test_a_reply_of_nothing_visible_passed_as_a_reply(
    pet: Companion, provider: ScriptedProvider
) -> None:
    provider.default = Reply("\u200b", "\u2060 \ufeff")
    page = await pet.talker()
    await page.send("send", text="Hi")
    assert (await page.until(*ENDS))["code"] == "empty_reply"


async def test_a_turn_can_be_stopped_before_its_model_was_even_asked(
    pet: Companion, provider: ScriptedProvider
) -> None:
    provider.script(Reply(Pause(), "late"))
    page = await pet.talker()
    await page.send("send", text="Hi")
    await page.send("cancel")
    assert (await page.until(*ENDS))["type"] == "turn.cancelled"


async def test_a_turn_that_was_stopped_or_failed_cost_nothing(
    pet: Companion, provider: ScriptedProvider
) -> None:
    """Otherwise a daily cap holds nobody back who cancels."""
    page = await pet.talker()
    provider.script(Reply("So far ", Pause(), "and on."))
    await page.ask("send", text="Hi")
    await page.until("delta")
    await page.ask("cancel")
    stopped = (await page.ask("status"))["usage_today"]["chat"]
    assert stopped["prompt"] > 0
    assert stopped["completion"] > 0


async def test_a_tool_model_that_was_asked_counts_although_the_turn_is_stopped(
    roles: Roles, tmp_path: Path
) -> None:
    roles.tool.script(call("tool__read_file", path="notes.txt"), Hang())
    async with companion(tmp_path, roles.config('[workspace]\npath = "."\n')) as pet:
        page = await pet.talker()
        await page.send("send", text="read the file notes.txt")
        for _ in range(2):
            await roles.tool.request_received()
        await page.ask("cancel")
        usage = (await page.ask("status"))["usage_today"]
    assert usage["tool"]["prompt"] > 0


async def test_a_key_in_a_selection_or_in_the_chat_went_to_the_model(
    pet: Companion, provider: ScriptedProvider
) -> None:
    key = "sk-proj-abcdef0123456789abcdef0123456789"
    page = await pet.talker()
    await page.ask("context.update", source="ide", text=f"OPENAI_API_KEY={key}")
    for _ in range(2):
        await page.send("send", text=f"is {key} right?", context={"selection": {"text": f"KEY={key}"}})
        await page.until(*ENDS)
    assert all(key not in json.dumps(request.body) for request in provider.requests)
