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


def pieces(stream: bytes, size: int) -> list[bytes]:
    lines, payloads = EventLines(), []
    for at in range(0, len(stream), size):
        payloads += lines.feed(stream[at : at + size])
    return payloads + lines.close()


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_line_ends_with_lf_cr_or_both(end: bytes, size: int) -> None:
    assert pieces(STREAM.replace(b"\r\n", b"\n").replace(b"\n", end), size) == PAYLOADS


def test_an_event_is_whole_with_its_blank_line_also_when_a_cr_ends_the_piece() -> None:
    lines = EventLines()
    assert lines.feed(b"data: 1\r\r") == [b"1"]
    assert lines.feed(b"data: 2\r\n\r") == [b"2"]
    assert lines.feed(b"\ndata: 3\n\n") == [b"3"]


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_a_byte_order_mark_is_dropped_at_the_start_alone(size: int) -> None:
    assert pieces(b"\xef\xbb\xbf" + STREAM, size) == PAYLOADS
    assert pieces(b'\xef\xbb\xbf{"choices": []}', size) == [b'{"choices": []}']
    assert pieces(b"data: 1\n\n\xef\xbb\xbfdata: 2\n\n", size) == [b"1"]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_whole_chunks_behind_single_newlines_are_events_of_their_own(size: int) -> None:
    stream = b'data: {"a": 1}\ndata: {"b": 2}\n: still here\ndata: {"c": 3}\ndata: [DONE]\n'
    assert pieces(stream, size) == [b'{"a": 1}', b'{"b": 2}', b'{"c": 3}', b"[DONE]"]


def test_the_end_of_the_stream_is_told_without_its_blank_line() -> None:
    assert EventLines().feed(b'data: {"a": 1}\ndata: [DONE]\n') == [b'{"a": 1}', b"[DONE]"]


def test_a_chunk_written_on_several_lines_is_joined() -> None:
    assert pieces(b'data: {"a":\ndata: 1}\n\ndata: {}\n\n', 1000) == [b'{"a":\n1}', b"{}"]


def test_an_event_without_an_end_is_refused() -> None:
    lines = EventLines()
    with pytest.raises(ValueError, match="no end"):
        lines.feed((b"data: " + b"x" * 100_000 + b"\n") * 100)
