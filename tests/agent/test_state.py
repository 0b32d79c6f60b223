"""The anchors of a conversation."""

from __future__ import annotations

from server.agent.state import ConversationState
from tools.contract import Findings, SearchHit


def test_a_search_a_fetch_a_file_and_a_picture_leave_their_anchors() -> None:
    state = ConversationState()
    hits = [SearchHit(1, "One", "https://example.org/1"), SearchHit(2, "Two", "https://example.org/2")]
    state.after_tool("tool__web_search", Findings(search=hits))
    state.after_tool("tool__web_fetch", Findings(fetched="https://example.org/2"))
    state.after_tool("tool__read_file", Findings(file="src/main.py"))
    state.after_tool("vision__screen_shot", Findings(), ["img_1", "img_2"])
    assert state.pinned() == {
        "last_url_ok": "https://example.org/2",
        "last_file": "src/main.py",
        "last_image_ref": "img_2",
        "last_search": [
            {"n": 1, "title": "One", "url": "https://example.org/1"},
            {"n": 2, "title": "Two", "url": "https://example.org/2"},
        ],
        "last_tool": "vision__screen_shot",
    }


def test_a_search_without_results_keeps_the_last_list() -> None:
    state = ConversationState()
    state.after_tool("tool__web_search", Findings(search=[SearchHit(1, "One", "https://example.org/1")]))
    state.after_tool("tool__web_search", Findings())
    assert len(state.last_search) == 1


def test_what_the_user_names_outright_is_an_anchor_too() -> None:
    state = ConversationState()
    state.after_user("看看 https://example.org/a，再对比 src/app.ts", ["img_7"])
    assert state.last_url_ok == "https://example.org/a"
    assert state.last_file == "src/app.ts"
    assert state.last_image_ref == "img_7"


def test_a_question_stays_open_through_follow_ups_and_ends_with_a_new_subject() -> None:
    state = ConversationState()
    state.after_user("北京明天的天气怎么样？")
    state.after_user("那上海呢")
    assert state.open_question == "北京明天的天气怎么样？"
    state.after_user("How tall is the Eiffel tower?")
    assert state.open_question == "How tall is the Eiffel tower?"
    state.after_user("Please write a poem about the sea for my mother")
    assert state.open_question is None


def test_it_survives_json() -> None:
    state = ConversationState()
    state.after_tool("tool__web_search", Findings(search=[SearchHit(1, "一", "https://example.org/1")]))
    assert ConversationState.model_validate_json(state.model_dump_json()) == state
