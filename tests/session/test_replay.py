"""Which frames a session keeps."""

from __future__ import annotations

from server.session.replay import MAX_BYTES, MAX_FRAMES, Replay


def filled(count: int, size: int = 10, newest: int = 0) -> Replay:
    replay = Replay(newest)
    for number in range(count):
        replay.keep(newest + number + 1, "x" * size)
    return replay


def test_a_client_gets_exactly_what_it_missed_in_order() -> None:
    replay = Replay(0)
    for number in range(1, 6):
        replay.keep(number, f"frame {number}")
    assert replay.can_resume(3)
    assert list(replay.after(3)) == ["frame 4", "frame 5"]


def test_a_client_that_missed_nothing_resumes_with_nothing() -> None:
    replay = filled(5)
    assert replay.can_resume(5)
    assert list(replay.after(5)) == []


def test_a_client_that_missed_more_than_is_kept_does_not_resume() -> None:
    replay = filled(MAX_FRAMES + 10)
    assert not replay.can_resume(9)
    assert replay.can_resume(10)


def test_the_buffer_is_bounded_in_bytes() -> None:
    replay = filled(100, size=MAX_BYTES // 10)
    assert sum(map(len, replay.after(0))) <= MAX_BYTES


def test_a_number_from_the_future_or_from_before_a_restart_does_not_resume() -> None:
    replay = filled(5, newest=100_000)
    assert not replay.can_resume(100_006)
    assert not replay.can_resume(99_999)
    assert replay.can_resume(100_000)
