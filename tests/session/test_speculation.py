"""Answers that are begun before it is known whether they are wanted: when they are, and what they cost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from server.models.events import ChatEvent, Finish, TextDelta
from server.protocol import Usage
from server.session.consent import Consents, StandingConsents
from server.session.gathering import GatherServices, Question, find_way
from server.session.speculation import Speculation
from server.session.usage import UsageLedger
from server.session.workbench import Workbench
from server.storage.database import Database
from tests.fakes.openai_server import Pause, Reply, Status
from tests.support.companion import Companion, companion
from tests.support.roles import ALWAYS, ENDS, UNSURE, WORKSPACE, Roles, call, nothing, turn

NEVER = WORKSPACE + '[agent]\nspeculate = "never"\n'


def called() -> Reply:
    """A tool model's answer that calls a tool, once the test lets it."""
    return Reply(
        Pause(), finish="tool_calls", tool_calls=call("tool__read_file", path="notes.txt").tool_calls
    )


async def chat_usage(pet: Companion) -> Usage:
    """Today's tokens of the chat role, as /status tells them."""
    page = await pet.talker()
    return Usage.model_validate((await page.ask("status"))["usage_today"]["chat"])


async def test_what_a_dropped_answer_cost_counts_for_the_day_but_not_for_the_turn(
    roles: Roles, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("the fact\n")
    roles.tool.script(called(), nothing())
    roles.chat.script(Reply("A guess ", Pause(), "never shown"), Reply("The fact.", usage=(200, 5)))
    async with companion(tmp_path, roles.config(ALWAYS)) as pet:
        page = await pet.talker()
        await page.send("send", text=UNSURE)
        await roles.tool.paused()
        await roles.chat.paused()
        roles.tool.release()
        done = await page.until(*ENDS)
        today = await chat_usage(pet)
    assert done["usage"]["chat"] == {"prompt": 200, "completion": 5}
    assert today.prompt > 200
    assert today.completion >= 5


async def test_an_answer_that_was_wanted_is_counted_once(roles: Roles, tmp_path: Path) -> None:
    roles.tool.default = nothing()
    roles.chat.script(Reply("Straight away.", usage=(200, 5)))
    async with companion(tmp_path, roles.config(ALWAYS)) as pet:
        done = await turn(await pet.talker(), UNSURE)
        today = await chat_usage(pet)
    assert done["usage"]["chat"] == {"prompt": 200, "completion": 5}
    assert today == Usage(prompt=200, completion=5)


@pytest.mark.parametrize("config", [NEVER, WORKSPACE], ids=["never", "remote, on one local machine"])
async def test_nothing_is_asked_in_advance(roles: Roles, tmp_path: Path, config: str) -> None:
    roles.tool.default = nothing()
    roles.tool.script(Reply(Pause(), "nothing to do"))
    async with companion(tmp_path, roles.config(config)) as pet:
        page = await pet.talker()
        await page.send("send", text=UNSURE)
        assert (await page.until("turn.route"))["path"] == "tool"
        await roles.tool.paused()
        assert roles.chat.requests == []
        roles.tool.release()
        done = await page.until(*ENDS)
    assert done["type"] == "turn.done"
    assert len(roles.chat.requests) == 1


async def test_a_failure_of_an_answer_that_nobody_wanted_is_none(roles: Roles, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("the fact\n")
    roles.tool.script(called(), nothing())
    roles.chat.script(Status(401))
    roles.chat.default = Reply("The fact.")
    async with companion(tmp_path, roles.config(ALWAYS)) as pet:
        page = await pet.talker()
        await page.send("send", text=UNSURE)
        await roles.tool.paused()
        await roles.chat.request_received()
        roles.tool.release()
        done = await page.until(*ENDS)
    assert (done["type"], page.said()) == ("turn.done", "The fact.")


async def test_a_failure_of_the_answer_begun_is_the_turns_when_no_tool_is_called(
    roles: Roles, tmp_path: Path
) -> None:
    roles.tool.default = nothing()
    roles.chat.script(Status(401))
    async with companion(tmp_path, roles.config(ALWAYS)) as pet:
        done = await turn(await pet.talker(), UNSURE)
    assert (done["type"], done["code"]) == ("turn.error", "provider_auth")


@pytest.mark.parametrize(
    ("setting", "chat_local", "path"),
    [
        ("always", True, "both"),
        ("always", False, "both"),
        ("remote", True, "tool"),
        ("remote", False, "both"),
        ("never", True, "tool"),
        ("never", False, "tool"),
    ],
)
async def test_an_answer_is_begun_where_lab_toml_lets_it_and_the_models_dont_share_a_machine(
    roles: Roles, tmp_path: Path, setting: str, chat_local: bool, path: str
) -> None:
    config = f'{WORKSPACE}[agent]\nspeculate = "{setting}"\n'
    async with companion(tmp_path, roles.config(config)) as pet:
        chat = replace(await pet.app.hub.resolve("chat"), local=chat_local)
        way = await find_way(
            Question(UNSURE, {}, (), (), ()), services(pet, tmp_path), chat, pictures_unseen=False
        )
    assert way.path == path


async def test_no_answer_is_begun_that_would_lack_what_the_pictures_show(
    roles: Roles, tmp_path: Path
) -> None:
    async with companion(tmp_path, roles.config(ALWAYS)) as pet:
        chat = await pet.app.hub.resolve("chat")
        asked = Question(UNSURE, {}, (), ("img_1",), ())
        seen = await find_way(asked, services(pet, tmp_path), chat, pictures_unseen=False)
        unseen = await find_way(asked, services(pet, tmp_path), chat, pictures_unseen=True)
    assert (seen.path, unseen.path) == ("both", "tool")


def services(pet: Companion, folder: Path) -> GatherServices:
    """What a session of ``pet`` would gather with."""
    database = Database(folder / "other.db")
    consents = Consents(StandingConsents(database), lambda *_: None, lambda: False)
    config = pet.app.store.config
    bench = Workbench(database, "session", consents)
    return GatherServices(
        hub=pet.app.hub,
        registry=pet.app.registry,
        bench=bench,
        usage=UsageLedger(database),
        agent=config.agent,
        tools=config.tools,
    )


# --- a stream that is read ahead ------------------------------------------------------------------


async def stream(*events: ChatEvent, then: asyncio.Event) -> AsyncGenerator[ChatEvent, None]:
    """``events``, then a wait for ever once ``then`` was set."""
    for event in events:
        yield event
    then.set()
    await asyncio.Event().wait()


async def test_a_stream_dropped_before_its_usage_is_counted_by_what_was_sent_and_said() -> None:
    read = asyncio.Event()
    begun = Speculation(stream(TextDelta("A guess"), then=read), estimated_prompt=70)
    await read.wait()
    cost = await begun.discard()
    assert cost.prompt == 70
    assert cost.completion > 0


async def test_a_stream_dropped_after_its_usage_is_counted_as_its_provider_did() -> None:
    read = asyncio.Event()
    told = Usage(prompt=64, completion=2)
    end = Finish(reason="stop", usage=told, estimated_prompt=70)
    begun = Speculation(stream(TextDelta("A guess"), end, then=read), estimated_prompt=70)
    await read.wait()
    assert await begun.discard() == told
