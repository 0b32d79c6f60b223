"""Who gives way when the room for results gets narrow."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from server.agent.budget import allot, allowance, squeeze
from server.agent.plain_text import cut, cut_to_tokens, fit_for_model
from server.models.tokens import count_tokens

SIZES = st.lists(st.integers(0, 5000), max_size=12)


def test_what_fits_stays_whole() -> None:
    assert allot([100, 200], 300, newest=1) == [100, 200]
    assert allot([], -5, newest=0) is None
    assert allot([], 5, newest=0) == []


def test_older_and_larger_results_give_way_first() -> None:
    assert allot([1000, 100, 500], 1000, newest=1) == [400, 100, 500]
    assert allot([1000, 1000, 500], 1000, newest=1) == [250, 250, 500]


def test_the_newest_give_way_only_when_the_older_ones_can_not() -> None:
    assert allot([1000, 900], 900, newest=1) == [100, 800]


def test_where_a_tenth_does_not_fit_the_budget_is_spent() -> None:
    assert allot([3000] * 6, 1500, newest=1) is None


def test_the_tool_models_own_context_counts_too() -> None:
    assert allowance(0.5, 8000, None, 100) == 4000
    assert allowance(0.5, 8000, 4000, 1000) == 2000
    assert allowance(0.5, 8000, 1000, 5000) == 0


@given(SIZES, st.integers(-10, 20_000), st.integers(0, 12))
def test_what_is_allotted_fits_and_grows_nothing(sizes: list[int], tokens: int, newest: int) -> None:
    kept = allot(sizes, tokens, newest=min(newest, len(sizes)))
    if kept is not None:
        assert sum(kept) <= tokens
        assert all(new <= old for new, old in zip(kept, sizes, strict=True))


@given(SIZES, st.integers(0, 20_000))
def test_squeezed_results_always_fit(sizes: list[int], tokens: int) -> None:
    assert sum(squeeze(sizes, tokens)) <= tokens


@given(st.text(), st.integers(60, 500))
def test_a_cut_text_is_no_longer_than_its_bound(text: str, bound: int) -> None:
    long = (text or "x") * 50
    assert len(cut(long, bound)) <= bound
    assert len(fit_for_model(long, bound)) <= bound
    assert len(cut_to_tokens(long, bound)) <= 60 or count_tokens(cut_to_tokens(long, bound)) <= bound
