"""Every way in which a provider answers or fails, on real sockets."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from server.errors import PetError
from server.models.chat import Patience, stream_chat
from server.models.client import Client
from server.models.events import ChatEvent, Finish, ReasoningDelta, TextDelta
from server.models.failure import Asked
from server.models.profile import Memory, Profiles
from server.models.provider import Provider
from server.protocol import Usage
from tests.fakes.openai_server import (
    DropAfter,
    Empty,
    Garbage,
    Hang,
    Pause,
    Raw,
    Reply,
    ScriptedProvider,
    Status,
    StreamError,
    Think,
    ThinkOnly,
)
from tests.models.conftest import NOBODY, QUICK

MESSAGES = [{"role": "system", "content": "be nice"}, {"role": "user", "content": "Hi"}]


class Asking:
    """One client with its memory."""

    def __init__(
        self, base_url: str, data_dir: Path, patience: Patience = QUICK, key: str | None = None
    ) -> None:
        self.client = Client(Provider("scripted", base_url, key))
        self.memory = Memory(Profiles(data_dir), base_url, "scripted-chat")
        self.patience = patience

    def stream(self, messages: list[dict[str, Any]] | None = None) -> Any:
        return stream_chat(
            self.client,
            Asked(self.client.provider, "scripted-chat"),
            self.memory,
            messages or MESSAGES,
            temperature=0.5,
            patience=self.patience,
        )

    async def events(self) -> list[ChatEvent]:
        async with asyncio.timeout(20), aclosing(self.stream()) as events:
            return [event async for event in events]

    async def failure(self) -> tuple[list[ChatEvent], PetError]:
        seen: list[ChatEvent] = []
        with pytest.raises(PetError) as raised:
            await self._collect(seen)
        return seen, raised.value

    async def _collect(self, seen: list[ChatEvent]) -> None:
        async with asyncio.timeout(20), aclosing(self.stream()) as events:
            while True:
                seen.append(await anext(events))


@pytest.fixture
async def asking(provider: ScriptedProvider, tmp_path: Path) -> Any:
    made = Asking(provider.base_url, tmp_path)
    yield made
    await made.client.aclose()


def text_of(events: list[ChatEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_a_reply_streams_and_ends_with_its_usage(provider: ScriptedProvider, asking: Asking) -> None:
    provider.script(Reply("Hel", "lo", usage=(12, 2)))
    assert await asking.events() == [
        TextDelta("Hel"),
        TextDelta("lo"),
        Finish("stop", Usage(prompt=12, completion=2), estimated_prompt=14),
    ]
    (request,) = provider.requests
    assert request.body["messages"] == MESSAGES
    assert request.body["temperature"] == 0.5
    assert "tools" not in request.body
    assert asking.memory.profile.streaming_usage is True


async def test_each_delta_comes_when_it_was_sent(provider: ScriptedProvider, asking: Asking) -> None:
    provider.script(Reply("one", Pause(), "two"))
    async with asyncio.timeout(20), aclosing(asking.stream()) as events:
        assert await anext(events) == TextDelta("one")
        await provider.paused()
        provider.release()
        assert await anext(events) == TextDelta("two")


async def test_one_connection_serves_many_turns(provider: ScriptedProvider, asking: Asking) -> None:
    for _ in range(5):
        await asking.events()
    assert provider.connections == 1


async def test_no_usage_is_no_failure(provider: ScriptedProvider, asking: Asking) -> None:
    provider.script(Reply("hi", usage=False))
    finish = (await asking.events())[-1]
    assert finish == Finish("stop", None, estimated_prompt=14)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
async def test_thinking_is_kept_apart_and_its_field_remembered(
    provider: ScriptedProvider, asking: Asking, field: str
) -> None:
    provider.script(Reply(Think("hm"), "hi", reasoning_field=field))
    assert (await asking.events())[:2] == [ReasoningDelta("hm"), TextDelta("hi")]
    assert asking.memory.profile.reasoning_field == field


async def test_closing_the_stream_ends_the_request(provider: ScriptedProvider, asking: Asking) -> None:
    provider.script(Reply("one", Pause(), "two"))
    async with asyncio.timeout(20):
        async with aclosing(asking.stream()) as events:
            await anext(events)
            await provider.paused()
        await provider.client_gone()


async def test_cancelling_before_the_first_token_ends_the_request(
    provider: ScriptedProvider, asking: Asking
) -> None:
    provider.script(Hang())
    async with asyncio.timeout(20):
        task = asyncio.ensure_future(asking.events())
        await provider.paused()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await provider.client_gone()


@pytest.mark.parametrize("reset", [False, True])
async def test_a_stream_that_breaks_off_keeps_what_was_said(
    provider: ScriptedProvider, asking: Asking, reset: bool
) -> None:
    provider.script(DropAfter(2, reset=reset))
    seen, error = await asking.failure()
    assert error.code == "stream_interrupted"
    assert error.retryable
    if not reset:  # a reset may throw away what had arrived
        assert text_of(seen) == "word word "


async def test_a_stream_that_breaks_off_before_its_first_word_is_asked_again_once(
    provider: ScriptedProvider, asking: Asking
) -> None:
    provider.script(DropAfter(0), Reply("hi"), DropAfter(0), DropAfter(0))
    assert text_of(await asking.events()) == "hi"
    seen, error = await asking.failure()
    assert (seen, error.code) == ([], "stream_interrupted")


async def test_a_stream_that_just_ends_is_interrupted(provider: ScriptedProvider, asking: Asking) -> None:
    provider.script(Reply("hi", finish=None, done=False))
    seen, error = await asking.failure()
    assert (text_of(seen), error.code) == ("hi", "stream_interrupted")


@pytest.mark.parametrize(("finish", "done"), [("length", False), (None, True)])
async def test_a_finish_reason_or_done_alone_ends_a_reply(
    provider: ScriptedProvider, asking: Asking, finish: str | None, done: bool
) -> None:
    provider.script(Reply("hi", finish=finish, done=done))
    finished = (await asking.events())[-1]
    assert isinstance(finished, Finish)
    assert finished.reason == (finish or "stop")


async def test_a_stream_that_stalls_is_interrupted(provider: ScriptedProvider, tmp_path: Path) -> None:
    asking = Asking(provider.base_url, tmp_path, Patience(idle_s=0.05))
    provider.script(Reply("hi", Raw(": ping"), Pause()))
    seen, error = await asking.failure()
    assert (text_of(seen), error.code, error.text) == ("hi", "stream_interrupted", "models.stalled")
    await asking.client.aclose()


async def test_garbage_in_the_stream_is_passed_over(provider: ScriptedProvider, asking: Asking) -> None:
    provider.script(Garbage("good ", "words"))
    assert text_of(await asking.events()) == "good words"


async def test_a_body_that_is_no_stream_at_all_is_told(provider: ScriptedProvider, asking: Asking) -> None:
    provider.script(Status(200, "<html>Log in to the hotel's network</html>"))
    seen, error = await asking.failure()
    assert (seen, error.code) == ([], "provider_error")


async def test_a_whole_completion_instead_of_a_stream_is_read(
    provider: ScriptedProvider, asking: Asking
) -> None:
    whole = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
    provider.script(Status(200, whole))
    assert text_of(await asking.events()) == "hi"


async def test_an_empty_reply_ends_without_text(provider: ScriptedProvider, asking: Asking) -> None:
    provider.script(Empty())
    assert [type(event) for event in await asking.events()] == [Finish]


@pytest.mark.parametrize(("tags", "kind"), [(False, ReasoningDelta), (True, TextDelta)])
async def test_a_reply_of_thinking_only_has_only_that(
    provider: ScriptedProvider, asking: Asking, tags: bool, kind: type[ChatEvent]
) -> None:
    provider.script(ThinkOnly(tags=tags))
    assert {type(event) for event in await asking.events()} == {kind, Finish}


async def test_an_error_in_the_stream_before_any_word_is_the_providers(
    provider: ScriptedProvider, asking: Asking
) -> None:
    provider.script(StreamError(error={"message": "overloaded", "code": 503}))
    seen, error = await asking.failure()
    assert (seen, error.code) == ([], "provider_error")
    assert "overloaded" in error.message("en")


async def test_an_error_in_the_stream_after_a_word_interrupts_it(
    provider: ScriptedProvider, asking: Asking
) -> None:
    provider.script(StreamError("some ", "words"))
    seen, error = await asking.failure()
    assert (text_of(seen), error.code) == ("some words", "stream_interrupted")


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (
            Status(401, {"error": {"message": "Incorrect API key provided: sk-abcdefgh12345"}}),
            "provider_auth",
        ),
        (Status(403, {"error": "no"}), "provider_auth"),
        (Status(404, {"error": {"message": "model 'scripted-chat' not found"}}), "needs_model"),
        (Status(400, {"error": {"code": "context_length_exceeded"}}), "context_overflow"),
        (Status(413, ""), "context_overflow"),
        (Status(418, "teapot"), "provider_error"),
    ],
)
async def test_a_refusal_has_its_code_and_is_not_repeated(
    provider: ScriptedProvider, asking: Asking, reply: Status, code: str
) -> None:
    provider.script(reply)
    _, error = await asking.failure()
    assert error.code == code
    assert error.message("zh-CN")
    assert error.hint("zh-CN")
    assert "sk-abcdefgh" not in error.message("en")
    assert len(provider.requests) == 1


async def test_too_many_requests_with_a_long_wait_fail_at_once(
    provider: ScriptedProvider, asking: Asking
) -> None:
    provider.script(Status(429, retry_after=7))
    _, error = await asking.failure()
    assert (error.code, error.retry_after_s) == ("provider_rate_limited", 7.0)
    assert len(provider.requests) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
async def test_a_failure_that_passes_is_tried_once_more(
    provider: ScriptedProvider, asking: Asking, status: int
) -> None:
    provider.script(Status(status, retry_after=0), Reply("hi"), Status(status), Status(status))
    assert text_of(await asking.events()) == "hi"
    _, error = await asking.failure()
    assert error.code == ("provider_rate_limited" if status == 429 else "provider_error")
    assert error.retryable
    assert len(provider.requests) == 4


@pytest.mark.parametrize("option", ["stream_options", "temperature"])
async def test_a_refused_parameter_is_left_out_and_never_sent_again(
    provider: ScriptedProvider, asking: Asking, option: str
) -> None:
    provider.refuses = {option}
    assert text_of(await asking.events()) == "Hello there."
    await asking.events()
    assert [option in request.body for request in provider.requests] == [True, False, False]


async def test_a_refused_system_role_is_folded_into_the_users_words(
    provider: ScriptedProvider, asking: Asking
) -> None:
    provider.refuses = {"system", "stream_options", "temperature"}
    assert text_of(await asking.events()) == "Hello there."
    assert provider.requests[-1].body["messages"] == [{"role": "user", "content": "be nice\n\nHi"}]
    assert asking.memory.profile.capabilities().system_role is False


async def test_a_parameter_is_not_blamed_for_another_failure(
    provider: ScriptedProvider, asking: Asking
) -> None:
    provider.script(Status(400, "no reason given"), Status(400, "no reason given"))
    _, error = await asking.failure()
    assert (error.code, len(provider.requests)) == ("provider_error", 2)
    assert asking.memory.profile.refused == []


async def test_nobody_at_the_address_is_told_with_a_remedy(tmp_path: Path) -> None:
    asking = Asking(NOBODY, tmp_path)
    _, error = await asking.failure()
    assert error.code == "provider_unreachable"
    assert error.hint("en")
    await asking.client.aclose()


async def test_a_key_is_sent_and_never_shown(provider: ScriptedProvider, tmp_path: Path) -> None:
    asking = Asking(provider.base_url, tmp_path, key="quite-secret-key")
    provider.api_key = "quite-secret-key"
    assert text_of(await asking.events()) == "Hello there."
    provider.script(Status(401, "the key quite-secret-key is wrong"))
    provider.api_key = None
    _, error = await asking.failure()
    told = [str(error), error.message("en"), error.message("zh-CN"), repr(asking.client.provider)]
    assert not any("quite-secret" in text for text in told)
    await asking.client.aclose()


async def test_a_kept_connection_that_the_server_gave_up_failed_the_next_message(
    asking: Asking, provider: ScriptedProvider
) -> None:
    """llama.cpp closes idle connections after 5 s, sometimes just when the next request is on its way."""
    provider.script(DropAfter(0, before_headers=True), Reply("still here"))
    events = await asking.events()
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "still here"
