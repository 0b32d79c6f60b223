from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from server.agent.web_machine import FETCH, MAX_CANDIDATES, SEARCH, WebMachine
from tools.contract import Findings, SearchHit


@dataclass
class Call:
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


def search(query: str = "cats") -> Call:
    return Call(SEARCH, {"query": query})


def fetch(url: str, **more: Any) -> Call:
    return Call(FETCH, {"url": url, **more})


def found(*urls: str) -> Findings:
    return Findings(urls=urls, search=[SearchHit(number, url, url) for number, url in enumerate(urls, 1)])


def verdicts(machine: WebMachine, *calls: Call) -> list[str]:
    return [decision.verdict for decision in machine.plan(calls)]


def test_a_search_has_its_step_to_itself_and_the_fetches_beside_it_are_offered_again() -> None:
    machine = WebMachine(2, 4)
    assert verdicts(machine, fetch("https://a.example/x"), search(), fetch("https://b.example")) == [
        "deferred",
        "run",
        "deferred",
    ]
    machine.learn(SEARCH, found("https://c.example/", "https://a.example/x"))
    assert machine.candidates() == ["https://a.example/x", "https://b.example/", "https://c.example/"]
    assert verdicts(machine, fetch("https://a.example/x"), fetch("https://c.example/")) == ["run", "run"]
    assert machine.candidates() == ["https://b.example/"]


def test_other_tools_of_the_step_run_as_usual() -> None:
    machine = WebMachine(1, 1)
    calls = [
        Call("vision__screen_shot"),
        search(),
        Call("tool__read_file", {"path": "a"}),
        fetch("https://a.example/"),
    ]
    assert verdicts(machine, *calls) == ["run", "run", "run", "deferred"]


def test_several_searches_share_a_step() -> None:
    assert verdicts(WebMachine(2, 4), search("a"), search("b")) == ["run", "run"]


def test_fetches_alone_run_together() -> None:
    assert verdicts(WebMachine(2, 4), fetch("https://a.example/"), fetch("https://b.example/")) == [
        "run",
        "run",
    ]


def test_budgets_bound_a_turn_and_say_so() -> None:
    machine = WebMachine(1, 2)
    assert verdicts(machine, search("a"), search("b")) == ["run", "refused"]
    assert verdicts(machine, *(fetch(f"https://{name}.example/") for name in "abc")) == [
        "run",
        "run",
        "refused",
    ]
    (decision,) = machine.plan([fetch("https://d.example/")])
    assert decision.reason == "the 2 pages of this turn are used up; answer with what is there."
    (decision,) = machine.plan([search("c")])
    assert decision.reason == "the 1 searches of this turn are used up; answer with what is there."


def test_a_search_that_is_not_run_puts_no_fetch_off() -> None:
    assert verdicts(WebMachine(0, 4), search(), fetch("https://a.example/")) == ["refused", "run"]


def test_what_was_put_off_costs_nothing() -> None:
    machine = WebMachine(1, 1)
    assert verdicts(machine, search(), fetch("https://a.example/"), fetch("https://b.example/")) == [
        "run",
        "deferred",
        "deferred",
    ]
    assert verdicts(machine, fetch("https://a.example/")) == ["run"]


def test_the_same_call_twice_in_a_step_runs_once() -> None:
    machine = WebMachine(4, 4)
    assert verdicts(machine, search("Big  Cats"), search("big cats ")) == ["run", "refused"]
    assert verdicts(machine, fetch("https://a.example"), fetch("https://A.example/#x", max_chars=9000)) == [
        "run",
        "refused",
    ]


def test_a_page_that_was_read_is_read_again_only_for_more_of_it() -> None:
    machine = WebMachine(1, 9)
    assert verdicts(machine, fetch("https://a.example/")) == ["run"]
    assert verdicts(machine, fetch("https://a.example/")) == ["run"]  # it failed
    machine.learn(FETCH, Findings(fetched="https://a.example/", urls=("https://a.example/next",)))
    assert verdicts(machine, fetch("https://a.example/")) == ["refused"]
    assert verdicts(machine, fetch("https://a.example/", max_chars=20_000)) == ["run"]
    assert verdicts(machine, fetch("https://a.example/", max_chars=20_000)) == ["refused"]
    assert machine.candidates() == []


def test_addresses_that_nobody_gave_are_not_offered() -> None:
    machine = WebMachine(1, 1, lambda: {"https://b.example/"})
    machine.plan([search(), fetch("https://made-up.example/")])
    machine.learn(SEARCH, found("https://b.example/"))
    assert machine.candidates() == ["https://b.example/"]


def test_candidates_are_normalised_bounded_and_never_what_is_no_address() -> None:
    machine = WebMachine(1, 1)
    machine.plan([search(), fetch("not an address"), fetch("HTTPS://A.example:443/b/../c")])
    machine.learn(SEARCH, found(*(f"https://{number}.example/" for number in range(50)), "javascript:0"))
    assert machine.candidates()[0] == "https://a.example/c"
    assert len(machine.candidates()) == MAX_CANDIDATES


@given(
    st.lists(
        st.lists(
            st.one_of(
                st.builds(search, st.sampled_from("abc")),
                st.builds(fetch, st.sampled_from(["https://a.example/", "https://b.example", "x y", ""])),
                st.builds(
                    Call, st.sampled_from([SEARCH, FETCH, "git__status"]), st.just({"url": None, "query": 7})
                ),
            ),
            max_size=6,
        ),
        max_size=8,
    ),
    st.integers(0, 3),
    st.integers(0, 3),
)
def test_whatever_is_called_budgets_hold_and_a_search_is_alone(
    steps: list[list[Call]], max_searches: int, max_fetches: int
) -> None:
    machine = WebMachine(max_searches, max_fetches)
    run = {SEARCH: 0, FETCH: 0, "git__status": 0}
    for calls in steps:
        decisions = machine.plan(calls)
        assert len(decisions) == len(calls)
        ran = [
            call.name for call, decision in zip(calls, decisions, strict=True) if decision.verdict == "run"
        ]
        assert not {SEARCH, FETCH} <= set(ran)
        assert ran.count("git__status") == sum(call.name == "git__status" for call in calls)
        for name in ran:
            run[name] += 1
    assert run[SEARCH] <= max_searches
    assert run[FETCH] <= max_fetches
