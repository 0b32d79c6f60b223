"""What a client may send, and what it is answered when that is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.fakes.openai_server import Pause, Reply, ScriptedProvider
from tests.support.companion import Companion


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "{",
        "[]",
        '"hello"',
        "null",
        "{}",
        '{"type": 5}',
        '{"type": "no.such.type"}',
        '{"type": "hello"}',
        '{"type": "hello", "protocol": 2}',
        '{"type": "hello", "protocol": "1"}',
        '{"type": "send", "text": 5}',
        '{"type": "send", "text": "x", "images": [{"mime": "text/html", "data": ""}]}',
        '{"type": "cancel", "turn": "1"}',
        '{"type": "chat.history", "limit": 0}',
        '{"type": "context.update", "source": "", "text": "x"}',
        '{"type": "status", "id": 7}',
        '{"type": "status", "id": "' + "x" * 65 + '"}',
        "[" * 100_000,
        b"\x00\x01",
    ],
)
async def test_a_frame_that_cannot_be_read_is_answered_and_the_connection_lives_on(
    pet: Companion, raw: str | bytes
) -> None:
    page = await pet.talker()
    await page.client.receive(raw)
    error = await page.until("error")
    assert error["code"] == "bad_frame"
    assert error["message"]
    assert (await page.ask("status"))["type"] == "status"


async def test_an_error_echoes_the_id_of_a_wrong_frame(pet: Companion) -> None:
    page = await pet.talker()
    await page.client.receive('{"type": "send", "id": "mine", "text": 5}')
    assert (await page.until("error"))["re"] == "mine"


async def test_a_malformed_frame_does_not_touch_the_running_turn(
    pet: Companion, provider: ScriptedProvider
) -> None:
    provider.script(Reply("So far ", Pause(), "and on."))
    page = await pet.talker()
    await page.ask("send", text="Hi")
    await page.until("delta")
    await page.client.receive("{")
    provider.release()
    assert (await page.until("turn.done", "turn.error", "turn.cancelled"))["text"] == "So far and on."


async def test_a_field_that_is_not_known_yet_is_ignored(pet: Companion) -> None:
    page = await pet.talker()
    assert (await page.ask("status", later="x"))["type"] == "status"


@pytest.mark.parametrize("frame", [{"type": "send", "text": "Hi"}, {"type": "status"}, {"type": "cancel"}])
async def test_the_first_frame_is_hello(pet: Companion, frame: dict[str, Any]) -> None:
    stranger = pet.stranger()
    await stranger.client.receive(json.dumps(frame))
    assert (await stranger.until("error"))["code"] == "bad_request"
    assert (await stranger.hello())["role"] == "owner"


async def test_errors_are_in_the_language_of_the_client(pet: Companion) -> None:
    chinese, english = await pet.talker(locale="zh-CN"), await pet.talker(locale="en")
    assert "服务商" in (await chinese.ask("models.list", provider="nobody"))["message"]
    assert "provider" in (await english.ask("models.list", provider="nobody"))["message"]


async def test_welcome_says_what_a_client_needs_to_know(pet: Companion) -> None:
    welcome = await pet.stranger().hello()
    assert welcome["protocol"] == 1
    assert len(welcome["session"]) == 32
    assert welcome["limits"]["max_images"] == 4
    assert welcome["limits"]["max_frame_bytes"] == 8 * 1024 * 1024
    assert "chat.temperature" in welcome["settings"]["values"]


async def test_too_long_a_text_is_refused_before_the_provider_is_asked(
    pet: Companion, provider: ScriptedProvider
) -> None:
    page = await pet.talker()
    assert (await page.ask("send", text="x" * 8001))["code"] == "too_large"
    assert provider.requests == []


async def test_an_empty_message_is_refused(pet: Companion) -> None:
    page = await pet.talker()
    assert (await page.ask("send", text="  \n"))["code"] == "bad_request"


async def test_the_thirteenth_turn_in_a_minute_waits(pet: Companion, provider: ScriptedProvider) -> None:
    page = await pet.talker()
    for _ in range(12):
        assert (await page.ask("send", text="Hi"))["type"] == "turn.start"
        await page.until("turn.done")
    refused = await page.ask("send", text="Hi")
    assert refused["code"] == "rate_limited"
    assert 0 < refused["retry_after_s"] <= 60
    assert len(provider.requests) == 12


async def test_short_lived_context_reaches_the_next_turn_as_untrusted_data(
    pet: Companion, provider: ScriptedProvider
) -> None:
    ide, page = await pet.talker(client="ide"), await pet.talker()
    await ide.ask("context.update", source="vscode", text="two errors in main.py")
    await page.ask("send", text="what is wrong?")
    await page.until("turn.done")
    assert (
        "note from vscode:\n> two errors in main.py" in provider.requests[-1].body["messages"][-1]["content"]
    )


async def test_another_agents_words_are_shown_as_such_and_kept_nowhere(pet: Companion) -> None:
    agent, page = await pet.talker(client="agent"), await pet.talker()
    await agent.ask("say", text="Build finished", expression="smile")
    said = await page.until("say")
    assert (said["text"], said["expression"], said["source"]) == ("Build finished", "smile", "agent")
    assert (await page.ask("chat.history"))["messages"] == []


async def test_status_counts_todays_tokens_by_role(pet: Companion, provider: ScriptedProvider) -> None:
    provider.script(Reply("ok", usage=(7, 3)))
    page = await pet.talker()
    await page.ask("send", text="Hi")
    await page.until("turn.done")
    status = await page.ask("status")
    assert status["usage_today"] == {"chat": {"prompt": 7, "completion": 3}}
    assert status["roles"]["chat"]["model"] == "scripted-chat"


async def test_a_picture_for_a_model_that_cannot_see_is_named_as_not_seen(
    pet: Companion, provider: ScriptedProvider
) -> None:
    png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    page = await pet.talker()
    await page.ask("send", text="look", images=[{"mime": "image/png", "data": png}])
    await page.until("turn.done")
    assert "image not seen" in provider.requests[-1].body["messages"][-1]["content"]
    assert "image_not_seen" in [frame["code"] for frame in page.frames if frame["type"] == "notice"]


async def test_a_wrong_frame_is_explained_in_the_clients_language(pet: Companion) -> None:
    page = await pet.talker(locale="zh-CN")
    await page.client.receive('{"type": "send", "text": "x", "images": "y"}')
    assert (await page.until("error"))["message"] == "无法读取这一帧：`images` 不是列表。"


async def test_a_frame_that_is_too_large_is_told_in_mebibytes(pet: Companion) -> None:
    page = await pet.talker()
    page.client.too_large(8 * 1024 * 1024)
    assert "8 MiB" in (await page.until("error"))["message"]
