"""Phrases that name something of the conversation."""

from __future__ import annotations

import pytest

from server.agent.references import Reference, resolve
from server.agent.state import ConversationState, Result

LINK = Reference("url", "https://example.org/read")
FILE = Reference("file", "src/main.py")
IMAGE = Reference("image", "img_3")
STATE = ConversationState(
    last_url_ok=LINK.value,
    last_file=FILE.value,
    last_image_ref=IMAGE.value,
    last_search=[Result(n=n, title=f"Result {n}", url=f"https://example.org/{n}") for n in (1, 2, 3, 4)],
)


def hit(number: int) -> Reference:
    return Reference("search_result", f"https://example.org/{number}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("open the last link again", [LINK]),
        ("what does that page say about bees", [LINK]),
        ("summarize the previous website", [LINK]),
        ("打开上一个链接", [LINK]),
        ("刚才那个链接再看一下", [LINK]),
        ("那个网页讲了什么", [LINK]),
        ("你刚才发的链接打不开", [LINK]),
        ("that file", [FILE]),
        ("run the same file again", [FILE]),
        ("看看刚才那个文件", [FILE]),
        ("那份文档第三行写了什么", [FILE]),
        ("what's in that screenshot", [IMAGE]),
        ("look at the screenshot again", [IMAGE]),
        ("zoom into the last picture", [IMAGE]),
        ("那张截图里有什么", [IMAGE]),
        ("刚才的截图左上角是什么", [IMAGE]),
        ("把上一张图放大", [IMAGE]),
        ("the second one", [hit(2)]),
        ("open the third result", [hit(3)]),
        ("read the 2nd link", [hit(2)]),
        ("what about the last one?", [hit(4)]),
        ("the second to last result", [hit(3)]),
        ("compare the first and the third", [hit(1), hit(3)]),
        ("open result 3", [hit(3)]),
        ("number two please", [hit(2)]),
        ("tell me more about #4", [hit(4)]),
        ("the first two", [hit(1), hit(2)]),
        ("第二个", [hit(2)]),
        ("打开第三条", [hit(3)]),
        ("第二个怎么样", [hit(2)]),
        ("第2个链接讲什么", [hit(2)]),
        ("最后一个呢", [hit(4)]),
        ("看看最后一条新闻", [hit(4)]),
        ("最后一个链接", [hit(4)]),
        ("倒数第二个打开看看", [hit(3)]),
        ("第一个和第三个比较一下", [hit(1), hit(3)]),
        ("前两个都读一下", [hit(1), hit(2)]),
        ("compare that screenshot with the second result", [IMAGE, hit(2)]),
        ("第二个和第二个", [hit(2)]),
    ],
)
def test_a_phrase_is_resolved(text: str, expected: list[Reference]) -> None:
    assert resolve(text, STATE) == expected


@pytest.mark.parametrize(
    "text",
    [
        "你好",
        "wait a second",
        "in a second.",
        "give me one second, please",
        "the first time I saw it",
        "第一次",
        "第二天",
        "第二个函数有问题",
        "第二个参数是什么",
        "the second argument is wrong",
        "the ninth result",
        "第九个",
        "take a screenshot",
        "截个图",
        "第零个",
        "不同文件",
        "线上文件",
        "that file system is slow",
        "那个文件夹",
        "link",
        "https://example.com/a",
        "read src/app.ts",
        "issue 1.2 is #1.5 times worse",
    ],
)
def test_what_names_no_anchor_is_left_alone(text: str) -> None:
    assert resolve(text, STATE) == []


@pytest.mark.parametrize("text", ["the last link", "那张截图", "刚才那个文件", "第二个"])
def test_an_anchor_that_is_not_there_is_not_made_up(text: str) -> None:
    assert resolve(text, ConversationState()) == []


def test_the_last_link_is_the_last_result_where_nothing_was_read_yet() -> None:
    state = STATE.model_copy(update={"last_url_ok": None})
    assert resolve("open the last link", state) == [hit(4)]
    assert resolve("open that link", state) == []


def test_results_are_found_by_their_number_not_their_place() -> None:
    state = ConversationState(last_search=[Result(n=2, url="https://b"), Result(n=1, url="https://a")])
    assert resolve("第二个", state) == [Reference("search_result", "https://b")]
