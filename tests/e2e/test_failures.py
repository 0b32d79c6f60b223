"""Every way in which a provider fails: the person is told what happened and what to do, in their language."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from server.app import App, Listening
from server.models.client import load_openai
from tests.e2e.conftest import OpenTab, Scripted, scripted
from tests.fakes import openai_server as fake
from tests.fakes.openai_server import (
    DropAfter,
    Empty,
    Garbage,
    Hang,
    Reply,
    ScriptedProvider,
    Status,
    StreamError,
    ThinkOnly,
)
from tests.support.browser import Tab, tab
from tests.support.companion import DEADLINE_S, lab_toml, location

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

LANGUAGES = ("en", "zh-CN")
TOO_LONG = {"error": {"message": "maximum context length is 4096 tokens", "code": "context_length_exceeded"}}
MANY_TURNS = "[limits]\nturns_per_minute = 1000"


@dataclass(frozen=True)
class Row:
    """A failure: the provider's answers, and what must show, by language."""

    name: str
    answers: tuple[fake.Scripted, ...]
    message: tuple[str, str]
    hint: tuple[str, str]
    retry: bool

    def __str__(self) -> str:
        return self.name


ROWS = (
    Row(
        "a wrong key",
        (Status(401, {"error": {"message": "Incorrect API key provided."}}),),
        ("scripted doesn't accept the API key", "scripted 不接受这个 API key"),
        ("Enter the right key", "请在页面里用 /connect 填入"),
        retry=False,
    ),
    Row(
        "a model that does not exist",
        (Status(404, {"error": {"message": "no such model", "code": "model_not_found"}}),),
        ("scripted doesn't offer “scripted-chat”", "scripted 不提供“scripted-chat”"),
        ("Choose another model", "换一个模型"),
        retry=False,
    ),
    Row(
        "too many requests",
        (Status(429, retry_after=70),),
        ("scripted takes no more requests for another 70 s", "scripted 在 70 秒内不再接受请求"),
        ("Try again a little later", "请稍后再试"),
        retry=True,
    ),
    Row(
        "an error of the provider's own, twice",
        (Status(500), Status(500)),
        ("scripted failed (HTTP 500)", "scripted 出错了（HTTP 500）"),
        ("Send the message again", "请再发一次"),
        retry=True,
    ),
    Row(
        "an empty reply, twice",
        (Empty(), Empty()),
        ("ended its answer without saying anything", "没有说任何内容就结束了回答"),
        ("Put it in other words", "换个说法再试"),
        retry=True,
    ),
    Row(
        "thinking only, twice",
        (ThinkOnly(), ThinkOnly(tags=True)),
        ("ended its answer without saying anything", "没有说任何内容就结束了回答"),
        ("Put it in other words", "换个说法再试"),
        retry=True,
    ),
    Row(
        "a context overflow, twice",
        (Status(400, TOO_LONG), Status(400, TOO_LONG)),
        ("no longer fits into the context of scripted-chat", "scripted-chat 的上下文装不下了"),
        ("Clear the chat", "请清空聊天"),
        retry=False,
    ),
    Row(
        "an answer that is no stream",
        (Status(200, "Not what you asked for"),),
        ("scripted sent an answer that can't be read", "scripted 的回复无法读取"),
        ("Send the message again", "请再发一次"),
        retry=True,
    ),
    Row(
        "a stream that just ends",
        (Reply("So far ", finish=None, done=False),),
        ("scripted broke off in the middle", "scripted 在回复途中断开了"),
        ("Send the message again", "请再发一次"),
        retry=True,
    ),
    Row(
        "an error inside the stream",
        (StreamError("So far "),),
        ("scripted broke off in the middle of the reply: The server had an error", "在回复途中断开了"),
        ("Send the message again", "请再发一次"),
        retry=True,
    ),
    Row(
        "a connection that breaks in mid-stream",
        (DropAfter(3, reset=True),),
        ("scripted broke off in the middle", "scripted 在回复途中断开了"),
        ("Send the message again", "请再发一次"),
        retry=True,
    ),
)


@dataclass
class Visit:
    companion: Scripted
    tab: Tab
    language: int


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=range(2), ids=LANGUAGES)
async def visit(
    request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Visit]:
    """A companion and a page in one language, for all rows."""
    language: int = request.param
    async with (
        scripted(tmp_path_factory.mktemp("failures"), MANY_TURNS) as companion,
        tab(browser, companion.url, locale=LANGUAGES[language]) as opened,
    ):
        await expect(opened.hook("state-line")).to_have_attribute("data-state", "ready")
        yield Visit(companion, opened, language)
        assert opened.faults == []


@pytest.mark.parametrize("row", ROWS, ids=str)
async def test_a_failure_says_what_happened_and_what_to_do_and_the_chat_goes_on(
    visit: Visit, row: Row
) -> None:
    provider, page = visit.companion.provider, visit.tab
    before = await page.hook("line").count()
    asked = len(provider.requests)
    provider.script(*row.answers)
    await page.say(f"What about {row.name}?")
    await expect(page.hook("line")).to_have_count(before + 1)
    await expect(page.failure()).to_contain_text(row.message[visit.language])
    await expect(page.failure()).to_contain_text(row.hint[visit.language])
    await expect(page.hook("stage")).to_have_attribute("data-state", "idle")
    assert len(provider.requests) == asked + len(row.answers)

    retry = page.failure().get_by_test_id("retry")
    await expect(retry).to_have_count(1 if row.retry else 0)
    provider.script(Reply(f"Now {row.name} is over."))
    if row.retry:
        await retry.click()
        await expect(page.hook("line")).to_have_count(before)
    else:
        await page.say("Once more")
    await expect(page.reply()).to_have_text(f"Now {row.name} is over.")


async def test_what_was_said_before_a_break_stays(companion: Scripted, open_tab: OpenTab) -> None:
    companion.provider.script(DropAfter(3, text="word "))
    page = await open_tab(companion.url)
    await page.say("Talk to me")
    await expect(page.failure()).to_contain_text("broke off")
    await expect(page.messages("assistant").last).to_have_attribute("data-state", "interrupted")
    await expect(page.reply()).to_have_text("word word word")
    await page.page.reload()
    await expect(page.messages("assistant").last).to_have_attribute("data-state", "interrupted")
    await expect(page.reply()).to_have_text("word word word")


async def test_garbage_between_good_pieces_is_passed_over(companion: Scripted, open_tab: OpenTab) -> None:
    companion.provider.script(Garbage("Good ", "news."))
    page = await open_tab(companion.url)
    await page.say("Any news?")
    await expect(page.reply()).to_have_text("Good news.")
    await expect(page.hook("line")).to_have_count(0)


@pytest.mark.parametrize("language", range(2), ids=LANGUAGES)
async def test_a_provider_that_is_gone_is_named_and_its_return_noticed(
    companion: Scripted, open_tab: OpenTab, language: int
) -> None:
    page = await open_tab(companion.url, locale=LANGUAGES[language])
    await page.say("Hi")
    await expect(page.messages("assistant", "done")).to_have_count(1)
    await companion.provider.stop()
    await page.say("Still there?")
    said = ("scripted can't be reached at", "连不上 scripted")[language]
    await expect(page.failure()).to_contain_text(said)
    await expect(page.failure()).to_contain_text(("Start the model server at", "请启动 127.0.0.1")[language])
    await expect(page.hook("guide")).to_be_visible()

    await companion.provider.start()
    await page.hook("guide-close").click()
    await page.failure().get_by_test_id("retry").click()
    await expect(page.messages("assistant", "done")).to_have_count(2)
    await expect(page.hook("state-line")).to_have_attribute("data-state", "ready")


@pytest.mark.parametrize("language", range(2), ids=LANGUAGES)
@pytest.mark.parametrize("before_headers", [True, False], ids=["without an answer", "after its headers"])
async def test_a_provider_that_hangs_before_its_first_token_is_given_up(
    tmp_path: Path, open_tab: OpenTab, language: int, before_headers: bool
) -> None:
    async with ScriptedProvider() as provider:
        here = location(tmp_path, lab_toml(provider.base_url))
        async with App(here, Listening("127.0.0.1", 0), first_token_s=0.5) as app:
            page = await open_tab(app.url, locale=LANGUAGES[language])
            await app.hub.resolve("chat")
            await load_openai()
            provider.script(Hang(before_headers=before_headers))
            await page.say("Hello?")
            said = ("scripted has not begun to answer", "没有开始回答")[language]
            await expect(page.failure()).to_contain_text(said)
            await expect(page.failure()).to_contain_text(("still be loading", "可能还在加载")[language])
            async with asyncio.timeout(DEADLINE_S):
                await provider.client_gone()
            await page.failure().get_by_test_id("retry").click()
            await expect(page.reply()).to_have_text("Hello there.")
            await page.page.context.close()
