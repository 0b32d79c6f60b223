from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
import pytest

from tests.support.pdf import encrypted_pdf, pdf
from tools.process import Program
from tools.web.reading import MAX_LINKS, MAX_TEXT, Unreadable
from tools.web.reading.apart import read_apart
from tools.web.reading.child import reading
from tools.web.reading.html import read_html
from tools.web.reading.pdf import MAX_PAGES, read_pdf
from tools.web.reading.plain import read_plain

PAGE = "https://example.com/blog/post?x=1"
PARAGRAPHS = "".join(
    f"<p>This is paragraph {number} of the article, about nothing in particular, but long enough.</p>"
    for number in range(30)
)
ARTICLE = f"""
<html><head><title>  An
 article </title><style>p {{ color: red }}</style></head><body>
<nav><a href="/home">Home</a> <a href="/about">About</a></nav>
<article><h1>Heading</h1>{PARAGRAPHS}
<p>See <a href="other#part">the  other
 one</a>, <a href="//cdn.example/x">a mirror</a> or <a href="#top">the top</a>.</p></article>
<script>var hidden = "secret";</script><footer>Copyright</footer></body></html>
"""


def test_an_article_is_read_without_what_surrounds_it() -> None:
    read = read_html(ARTICLE.encode(), PAGE, "utf-8")
    assert read.title == "An article"
    assert "paragraph 7 of the article" in read.text
    for noise in ("hidden", "color: red", "Copyright"):
        assert noise not in read.text


def test_links_are_absolute_and_those_of_the_article_come_first() -> None:
    assert list(read_html(ARTICLE.encode(), PAGE, "utf-8").links) == [
        ("the other one", "https://example.com/blog/other"),
        ("a mirror", "https://cdn.example/x"),
        ("Home", "https://example.com/home"),
        ("About", "https://example.com/about"),
    ]


def test_links_follow_the_base_of_the_page() -> None:
    markup = '<base href="https://docs.example/v2/"><a href="intro">Intro</a><a href="intro">again</a>'
    assert list(read_html(markup.encode(), PAGE, None).links) == [("Intro", "https://docs.example/v2/intro")]


def test_links_that_lead_to_no_page_are_left_out_and_there_are_at_most_fifty() -> None:
    odd = (
        '<a href="javascript:0">a</a><a href="mailto:a@b">b</a><a href="http://u:p@h/">c</a><a href="">d</a>'
    )
    many = "".join(f'<a href="/{number}">{number}</a>' for number in range(200))
    links = read_html((odd + many).encode(), PAGE, None).links
    assert links[0] == ("0", "https://example.com/0")
    assert len(links) == MAX_LINKS


def test_a_page_without_an_article_is_read_whole_in_blocks() -> None:
    menu = "<h1>Menu</h1><ul><li>One <b>big</b> soup<li>Two</ul>"
    markup = f"{menu}<script>no()</script><svg><text>no</text></svg>tail"
    assert read_html(markup.encode(), PAGE, None).text == "Menu\nOne big soup\nTwo\ntail"


@pytest.mark.parametrize(
    "markup",
    [
        b"",
        b"   ",
        b"<!-- nothing -->",
        b"<html></html>",
        b"<script>only()</script>",
        b"\x00" * 1000,
        b"<",
        b"<html><body><div id=root></div></body></html>",
    ],
)
def test_a_page_of_nothing_has_no_text(markup: bytes) -> None:
    assert read_html(markup, PAGE, None).text.strip("<") == ""


@pytest.mark.parametrize(
    "markup",
    [
        "<div>" * 100_000 + "deep",
        "<table><tr><td>" * 20_000 + "deep",
        "<b><i>" * 50_000 + "deep",
        "<!--" * 50_000 + "x",
        "<script>" * 50_000,
        "&amp;" * 100_000,
        "<p>a\0b</p>",
        "<?xml version='1.0' encoding='utf-16'?><html><body><p>x</p></body></html>",
        "<a href='/x'>" * 20_000,
        "<br>x" * 60_000,
        "<p>" + "\u202e\u200b" * 1000,
        "]]>" * 1000 + "<![CDATA[" * 1000,
    ],
)
def test_malformed_and_hostile_markup_is_read_within_bounds(markup: str) -> None:
    started = time.process_time()
    read = read_html(markup.encode(), PAGE, "utf-8")
    assert len(read.text) <= MAX_TEXT
    assert len(read.links) <= MAX_LINKS
    assert time.process_time() - started < 20


def test_a_huge_page_is_cut() -> None:
    read = read_html(("<article>" + PARAGRAPHS * 2000).encode(), PAGE, "utf-8")
    assert (len(read.text), read.cut) == (MAX_TEXT, True)


# --- plain text ---------------------------------------------------------------------------------


def test_text_is_given_as_it_is_with_the_links_in_it() -> None:
    text = "See https://a.example/x, (http://b.example/y(z)), <https://c.example/>。参见http://d.example/你。 ftp://no"
    read = read_plain(text.encode(), None)
    assert read.text == text
    assert [url for _, url in read.links] == [
        "https://a.example/x",
        "http://b.example/y(z)",
        "https://c.example/",
        "http://d.example/%E4%BD%A0",
    ]


@pytest.mark.parametrize(
    "body", [bytes(100), b"PK\x03\x04\x00\x00", os.urandom(5000), b"\x89PNG\r\n\x1a\n\x00\x01"]
)
def test_what_isn_t_text_is_refused(body: bytes) -> None:
    with pytest.raises(Unreadable, match="isn't text"):
        read_plain(body, "utf-8")


# --- PDF ----------------------------------------------------------------------------------------


def test_a_pdf_is_read_page_by_page() -> None:
    read = read_pdf(pdf(["First page", "Second page"], title="A paper"))
    assert read.title == "A paper"
    assert read.text == "[page 1]\nFirst page\n\n[page 2]\nSecond page"
    assert not read.cut


def test_a_long_pdf_is_cut() -> None:
    read = read_pdf(pdf([f"Page {number}" for number in range(MAX_PAGES + 5)]))
    assert read.cut
    assert f"Page {MAX_PAGES - 1}" in read.text
    assert f"Page {MAX_PAGES + 1}" not in read.text
    first = read_pdf(pdf(["One", "Two"]), budget_s=0)
    assert (first.text, first.cut) == ("[page 1]\nOne", True)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"%PDF-1.7\nrubbish", "broken"),
        (b"%PDF-", "broken"),
        (pdf(["hello"])[:200], "broken"),
        (pdf([""]), "without text"),
        (encrypted_pdf("secret"), "password"),
    ],
)
def test_a_pdf_that_can_not_be_read_says_why(body: bytes, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        read_pdf(body)


def test_a_pdf_that_anybody_may_open_is_opened() -> None:
    assert "hello" in read_pdf(encrypted_pdf("")).text


# --- in a process of its own --------------------------------------------------------------------


async def test_a_page_is_read_in_a_process_of_its_own() -> None:
    read = await read_apart("html", ARTICLE.encode(), PAGE, "utf-8")
    assert read == read_html(ARTICLE.encode(), PAGE, "utf-8")
    assert "First" in (await read_apart("pdf", pdf(["First"]), PAGE)).text
    with pytest.raises(Unreadable, match="is a PDF that is broken"):
        await read_apart("pdf", b"%PDF-1.7\nrubbish", PAGE)


async def test_text_beyond_the_basic_plane_survives_the_way() -> None:
    markup = "<p>🐈 你好 ü \ud83d</p>".encode("utf-8", "surrogatepass")
    assert "🐈 你好 ü" in (await read_apart("html", markup, PAGE, "utf-8")).text


HOSTILE = b"<p " + b" ".join(b"a%d=1" % number for number in range(300_000)) + b">x</p>"
"""The parser compares each attribute with all before it, which takes minutes."""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> asyncio.Queue[Program]:
    """The processes that were started to read a page."""
    programs: asyncio.Queue[Program] = asyncio.Queue()
    start = Program.start

    async def recorded(argv: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> Program:
        program = await start(argv, env=env, cwd=cwd)
        programs.put_nowait(program)
        return program

    monkeypatch.setattr(Program, "start", recorded)
    return programs


async def test_a_page_that_keeps_the_parser_busy_is_given_up_and_its_process_ended(
    started: asyncio.Queue[Program],
) -> None:
    with pytest.raises(Unreadable, match="took too long"):
        await read_apart("html", HOSTILE, PAGE, time_s=0.5)
    assert started.get_nowait().exited.is_set()
    assert readers() == []


async def test_cancelling_ends_the_process(started: asyncio.Queue[Program]) -> None:
    task = asyncio.create_task(read_apart("html", HOSTILE, PAGE))
    async with asyncio.timeout(20):
        program = await started.get()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await program.exited.wait()
    assert task.cancelled()
    assert readers() == []


async def test_the_process_has_no_keys_and_no_way_to_print(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted")
    spy = tmp_path / "tools" / "web" / "reading"
    monkeypatch.setattr("tools.web.reading.apart._ROOT", tmp_path)
    spy.mkdir(parents=True)
    for folder in (tmp_path / "tools", tmp_path / "tools" / "web", spy):
        (folder / "__init__.py").write_text("", encoding="utf-8")
    (spy / "child.py").write_text(
        "import json, os, sys\n"
        "def main():\n"
        "    sys.stdin.buffer.read()\n"
        "    print(json.dumps({'title': '', 'text': ' '.join(os.environ), 'links': [], 'cut': False}))\n",
        encoding="utf-8",
    )
    read = await read_apart("html", b"x", PAGE)
    assert "PATH" in read.text
    assert "OPENAI_API_KEY" not in read.text


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"nonsense",
        b"[]",
        b"{}",
        b"1",
        json.dumps({"title": "", "text": "", "links": [1]}).encode(),
        b"[" * 10**5,
    ],
)
def test_an_answer_that_makes_no_sense_is_a_failure(answer: bytes) -> None:
    with pytest.raises(Unreadable):
        reading(answer)


def readers() -> list[psutil.Process]:
    """The reading processes that are ours."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if (
                "tools.web.reading.child" in " ".join(process.cmdline())
                and process.status() != psutil.STATUS_ZOMBIE
            ):
                found.append(process)
        except psutil.Error:
            continue
    return found
