"""What the chat model is sent."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from server.agent.prompt import ChatPrompt, Exchange, alternate

PAIR = (Exchange("user", "x"), Exchange("assistant", "y"))
exchanges = st.lists(
    st.builds(Exchange, st.sampled_from(["user", "assistant"]), st.text(max_size=20)), max_size=30
)


def prompt(*recent: Exchange, composed: str = "now") -> ChatPrompt:
    return ChatPrompt(system="who", recent=recent, reminder="still who", composed=composed)


def messages(of: ChatPrompt, max_recent: int = 30, tokens: int = 1000) -> list[tuple[str, str]]:
    sent = of.messages(max_recent=max_recent, context_tokens=tokens, count_tokens=len)
    return [(message["role"], message["content"]) for message in sent]


def test_the_order_is_persona_then_chat_then_reminder_then_the_composed_message() -> None:
    sent = messages(prompt(Exchange("user", "hi"), Exchange("assistant", "hello")))
    assert sent == [
        ("system", "who"),
        ("user", "hi"),
        ("assistant", "hello"),
        ("system", "still who"),
        ("user", "now"),
    ]


def test_an_unanswered_message_travels_with_the_next_one_instead_of_a_second_user_message() -> None:
    sent = messages(prompt(Exchange("user", "first try")))
    assert sent == [("system", "who"), ("system", "still who"), ("user", "first try\n\nnow")]


def test_the_oldest_messages_are_cut_until_the_rest_fits_and_the_first_is_the_users() -> None:
    chat = [Exchange("user", "a" * 50), Exchange("assistant", "b" * 50)] * 10
    sent = messages(prompt(*chat), tokens=400)
    kept = sent[1:-2]
    assert sum(len(text) for _, text in kept) <= 300
    assert kept[0][0] == "user"
    assert kept[-1] == ("assistant", "b" * 50)


def test_a_composed_message_larger_than_the_window_is_still_sent_alone() -> None:
    sent = messages(prompt(*PAIR, composed="z" * 5000), tokens=100)
    assert sent[-1] == ("user", "z" * 5000)
    assert len(sent) == 3


def test_pictures_follow_the_text_in_the_last_message() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
    pictured = ChatPrompt("who", (), "still", "look", (picture,))
    last = pictured.messages(max_recent=5, context_tokens=100, count_tokens=len)[-1]["content"]
    assert last == [{"type": "text", "text": "look"}, picture]


@given(exchanges)
def test_two_assistant_messages_in_a_row_never_reach_a_model(chat: list[Exchange]) -> None:
    roles = [exchange.role for exchange in alternate(chat)]
    assert all(role == ("user", "assistant")[index % 2] for index, role in enumerate(roles))


@given(exchanges, st.integers(0, 40), st.integers(0, 500))
def test_roles_alternate_in_what_is_sent_whatever_is_cut(
    chat: list[Exchange], recent: int, tokens: int
) -> None:
    sent = messages(prompt(*chat), max_recent=recent, tokens=tokens)
    roles = [role for role, _ in sent if role != "system"]
    assert roles[-1] == "user"
    assert all(role == ("user", "assistant")[index % 2] for index, role in enumerate(roles))
