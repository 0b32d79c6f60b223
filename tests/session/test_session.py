"""Turns among several clients: order, cancelling, coming back."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.openai_server import Hang, Pause, Reply, ScriptedProvider
from tests.support.companion import Companion, Talker, companion, lab_toml

ENDS = ("turn.done", "turn.error", "turn.cancelled")


async def begin(page: Talker, provider: ScriptedProvider, text: str = "Hi") -> int:
    """Starts a turn that stops in the middle of its reply."""
    provider.script(Reply("So far ", Pause(), "and on."))
    start = await page.ask("send", text=text)
    await page.until("delta")
    return int(start["turn"])


async def test_a_stopped_turn_says_what_was_shown_and_aborts_its_request(
    pet: Companion, provider: ScriptedProvider
) -> None:
    page = await pet.talker()
    turn = await begin(page, provider)
    answer = await page.ask("cancel", turn=turn)
    assert (answer["type"], answer["turn"], answer["text"]) == ("turn.cancelled", turn, "So far ")
    await provider.client_gone()
    _, reply = (await page.ask("chat.history"))["messages"]
    assert (reply["text"], reply["interrupted"]) == ("So far ", True)


async def test_a_turn_stopped_before_it_said_anything_leaves_no_filler(
    pet: Companion, provider: ScriptedProvider
) -> None:
    provider.script(Hang())
    page = await pet.talker()
    await page.ask("send", text="Hi")
    await provider.request_received()
    assert (await page.ask("cancel"))["text"] == ""
    messages = (await page.ask("chat.history"))["messages"]
    assert [message["role"] for message in messages] == ["user"]


async def test_a_second_message_replaces_the_running_turn_and_replies_never_interleave(
    pet: Companion, provider: ScriptedProvider
) -> None:
    page = await pet.talker()
    first = await begin(page, provider)
    provider.script(Reply("The second."))
    start = await page.ask("send", text="second")
    await page.until(*ENDS)
    kinds = [(frame["type"], frame["turn"]) for frame in page.frames if "turn" in frame]
    replaced = kinds.index(("turn.cancelled", first))
    assert kinds[replaced + 1] == ("turn.start", start["turn"])
    assert all(turn == start["turn"] for _, turn in kinds[replaced + 1 :])
    assert start["turn"] > first


async def test_a_cancel_for_a_turn_that_is_over_does_nothing_to_the_one_that_runs(
    pet: Companion, provider: ScriptedProvider
) -> None:
    page = await pet.talker()
    provider.script(Reply("done"))
    old = (await page.ask("send", text="one"))["turn"]
    await page.until(*ENDS)
    running = await begin(page, provider)
    assert (await page.ask("cancel", turn=old))["type"] == "ok"
    provider.release()
    end = await page.until(*ENDS)
    assert (end["type"], end["turn"], end["text"]) == ("turn.done", running, "So far and on.")
    assert (await page.ask("cancel"))["type"] == "ok"


async def test_all_of_an_owners_clients_share_one_session(pet: Companion, provider: ScriptedProvider) -> None:
    provider.script(Reply("Hello both."))
    page, ide = await pet.talker(client="page"), await pet.talker(client="ide")
    asked = await page.ask("send", text="Hi")
    seen = await ide.until("turn.start")
    assert seen["text"] == "Hi"
    assert "re" not in seen
    assert seen["seq"] == asked["seq"]
    assert (await ide.until(*ENDS))["text"] == "Hello both."


async def test_a_new_session_has_a_chat_of_its_own_and_can_be_found_again(
    pet: Companion, provider: ScriptedProvider
) -> None:
    page = await pet.talker()
    await page.ask("send", text="shared")
    await page.until(*ENDS)
    own = pet.stranger()
    welcome = await own.hello(new=True)
    assert (await own.ask("chat.history"))["messages"] == []
    await own.ask("send", text="mine")
    await own.until(*ENDS)
    back = pet.stranger()
    assert (await back.hello(session=welcome["session"]))["session"] == welcome["session"]
    (question, _) = (await back.ask("chat.history"))["messages"]
    assert question["text"] == "mine"


async def test_a_client_that_comes_back_gets_what_it_missed_once_and_in_order(
    pet: Companion, provider: ScriptedProvider
) -> None:
    page = pet.stranger()
    welcome = await page.hello()
    await begin(page, provider)
    last = page.frames[-1]["seq"]
    await page.client.leave()
    provider.release()
    other = await pet.talker()
    await other.until(*ENDS)

    back = pet.stranger()
    again = await back.hello(session=welcome["session"], last_seq=last)
    assert again["resumed"] is True
    await back.until("turn.done")
    missed = [frame["seq"] for frame in back.frames[1:]]
    assert missed == list(range(last + 1, again["seq"] + 1))
    assert "".join(f["text"] for f in back.frames if f["type"] == "delta") == "and on."


async def test_a_lost_connection_does_not_stop_the_turn(pet: Companion, provider: ScriptedProvider) -> None:
    page = await pet.talker()
    await begin(page, provider)
    await page.client.leave()
    provider.release()
    back = await pet.talker()
    await back.until("turn.done")
    assert (await back.ask("chat.history"))["messages"][-1]["text"] == "So far and on."


async def test_a_second_page_opened_in_mid_reply_sees_the_whole_turn(
    pet: Companion, provider: ScriptedProvider
) -> None:
    page = await pet.talker()
    turn = await begin(page, provider)
    second = pet.stranger()
    welcome = await second.hello()
    assert (welcome["resumed"], welcome["state"]) == (False, "streaming")
    assert (await second.until("turn.start"))["turn"] == turn
    provider.release()
    await second.until("turn.done")
    assert second.said(turn) == "So far and on."


async def test_sequence_numbers_grow_by_one_over_everything_the_session_says(
    pet: Companion, provider: ScriptedProvider
) -> None:
    page = await pet.talker()
    for _ in range(3):
        await page.ask("send", text="Hi")
        await page.until(*ENDS)
    await page.ask("status")
    numbers = [frame["seq"] for frame in page.frames[1:] if "seq" in frame]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def test_the_state_is_streaming_exactly_while_a_turn_runs(
    pet: Companion, provider: ScriptedProvider
) -> None:
    page = await pet.talker()
    await begin(page, provider)
    provider.release()
    await page.until(*ENDS)
    await page.until("state")
    await begin(page, provider)
    await page.ask("cancel")
    await page.until("state")
    states = [frame["state"] for frame in page.frames if frame["type"] == "state"]
    assert states[-4:] == ["streaming", "ready", "streaming", "ready"]


async def test_a_restart_keeps_the_chat_and_does_not_pretend_to_resume(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    config = lab_toml(provider.base_url)
    async with companion(tmp_path, config) as pet:
        page = pet.stranger()
        before = await page.hello()
        await page.ask("send", text="remember me")
        done = await page.until(*ENDS)
    async with companion(tmp_path, config) as pet:
        page = pet.stranger()
        after = await page.hello(session=before["session"], last_seq=done["seq"])
        assert after["session"] == before["session"]
        assert after["resumed"] is False
        assert after["seq"] > done["seq"]
        texts = [message["text"] for message in (await page.ask("chat.history"))["messages"]]
        assert texts == ["remember me", "Hello there."]
        assert (await page.ask("send", text="again"))["turn"] > done["turn"]


async def test_an_unknown_session_falls_back_to_the_shared_one(pet: Companion) -> None:
    shared = (await pet.stranger().hello())["session"]
    welcome = await pet.stranger().hello(session="0" * 32, last_seq=7)
    assert (welcome["session"], welcome["resumed"]) == (shared, False)


async def test_clearing_the_chat_stops_the_turn_and_empties_it_for_every_client(
    pet: Companion, provider: ScriptedProvider
) -> None:
    page, other = await pet.talker(), await pet.talker()
    await begin(page, provider)
    assert (await page.ask("chat.clear"))["messages"] == []
    assert (await other.until("turn.cancelled"))["text"] == "So far "
    assert (await other.until("chat"))["messages"] == []
    assert (await page.ask("chat.history"))["messages"] == []


async def test_the_chat_is_read_back_page_by_page(pet: Companion, provider: ScriptedProvider) -> None:
    page = await pet.talker()
    for number in range(3):
        await page.ask("send", text=f"question {number}")
        await page.until(*ENDS)
    newest = (await page.ask("chat.history", limit=2))["messages"]
    assert [message["text"] for message in newest] == ["question 2", "Hello there."]
    older = (await page.ask("chat.history", limit=2, before=newest[0]["id"]))["messages"]
    assert [message["text"] for message in older] == ["question 1", "Hello there."]


async def test_a_client_that_vanishes_while_it_asks_leaves_nothing_running(pet: Companion) -> None:
    page = await pet.talker()
    await page.send("status")
    await page.client.leave()
    again = await pet.talker()
    assert (await again.ask("status"))["type"] == "status"
