import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.models.sse import EventLines

STREAM = (
    b': hello\r\n\r\nevent: x\ndata: {"a":1}\n\ndata:{"b":2}\r\n\r\n'
    b"id: 7\ndata: one\ndata: two\n\ndata: [DONE]\n\n"
)
PAYLOADS = [b'{"a":1}', b'{"b":2}', b"one\ntwo", b"[DONE]"]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_a_stream_reads_the_same_wherever_it_is_cut(cuts: list[int]) -> None:
    lines, payloads, last = EventLines(), [], 0
    for cut in [*sorted(cuts), len(STREAM)]:
        payloads += lines.feed(STREAM[last:cut])
        last = cut
    assert payloads + lines.close() == PAYLOADS


def test_an_event_without_its_blank_line_comes_out_at_the_end() -> None:
    lines = EventLines()
    assert lines.feed(b'data: {"a":1}') == []
    assert lines.close() == [b'{"a":1}']


def test_a_plain_body_comes_out_at_the_end() -> None:
    lines = EventLines()
    assert lines.feed(b'{"error":\n"no"}') == []
    assert lines.close() == [b'{"error":\n"no"}']


def test_text_between_events_is_dropped() -> None:
    lines = EventLines()
    assert lines.feed(b"data: 1\n\nnonsense\n\n") == [b"1"]
    assert lines.close() == []


def test_a_line_without_an_end_is_refused() -> None:
    lines = EventLines()
    with pytest.raises(ValueError, match="no end"):
        lines.feed(b"x" * 9_000_000)
