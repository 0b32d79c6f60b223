from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.files import text
from tools.files.text import MAX_LINE, Excerpt, NoText, read_lines

CHINESE = "这是一个测试文件，里面有中文。\n第二行也有一些内容\n"


def read(data: bytes, first: int = 1, last: int | None = None, max_chars: int = 100_000) -> Excerpt:
    return read_lines(io.BytesIO(data), first, last, max_chars)


def test_all_lines_of_a_small_file() -> None:
    excerpt = read(b"one\ntwo\r\nthree")
    assert (excerpt.lines, excerpt.total, excerpt.whole, excerpt.more) == (
        ["one", "two", "three"],
        3,
        True,
        False,
    )


def test_a_last_line_end_begins_no_line() -> None:
    assert read(b"one\ntwo\n").total == 2
    assert read(b"\n\n").lines == ["", ""]


@pytest.mark.parametrize(
    ("first", "last", "lines"),
    [(2, 3, ["b", "c"]), (3, None, ["c", "d"]), (4, 9, ["d"]), (5, None, []), (1, 1, ["a"])],
)
def test_a_range_of_lines(first: int, last: int | None, lines: list[str]) -> None:
    excerpt = read(b"a\nb\nc\nd\n", first, last)
    assert (excerpt.lines, excerpt.total) == (lines, 4)


def test_where_there_is_no_room_the_rest_is_left_out_and_counted() -> None:
    excerpt = read(b"aaaa\nbbbb\ncccc\n", max_chars=11)
    assert (excerpt.lines, excerpt.total, excerpt.more, excerpt.last) == (["aaaa", "bbbb"], 3, True, 2)


def test_a_very_long_line_is_cut() -> None:
    excerpt = read(b"x" * 5000 + b"\nshort\n")
    assert excerpt.lines == ["x" * MAX_LINE + f" … [{5000 - MAX_LINE} more]", "short"]


@pytest.mark.parametrize(
    ("encoding", "mark", "name"),
    [
        ("utf-8", b"", "utf-8"),
        ("utf-8", b"\xef\xbb\xbf", "utf-8-sig"),
        ("utf-16-le", b"\xff\xfe", "utf-16"),
        ("utf-16-be", b"\xfe\xff", "utf-16"),
        ("utf-32-le", b"\xff\xfe\0\0", "utf-32"),
        ("gbk", b"", "gb18030"),
    ],
)
@pytest.mark.parametrize("content", [CHINESE, "你好\n世界\n", CHINESE * 40], ids=["text", "short", "long"])
def test_chinese_in_every_common_encoding(encoding: str, mark: bytes, name: str, content: str) -> None:
    excerpt = read(mark + content.encode(encoding))
    assert excerpt.lines == content.splitlines()
    assert excerpt.encoding == name


def test_chinese_comments_in_gbk_source_code() -> None:
    source = "def total(items):\n    # 计算总和\n    return sum(items)  # 返回结果\n"
    assert read(source.encode("gbk")).lines == source.splitlines()


def test_western_text_in_its_old_encoding() -> None:
    content = "café crème brûlée, déjà vu\n"
    assert read(content.encode("cp1252")).lines == content.splitlines()


def test_a_character_on_the_edge_of_the_sample_is_no_reason_to_guess() -> None:
    data = b"x" * (text.SAMPLE - 1) + "中".encode() + b"\nnext\n"
    excerpt = read(data)
    assert (excerpt.encoding, excerpt.lines[1]) == ("utf-8", "next")


def test_bytes_that_fit_nothing_are_replaced() -> None:
    excerpt = read(b"a" * text.SAMPLE + b"\nbad \xff\xfe byte\n")
    assert excerpt.lines[1] == "bad \ufffd\ufffd byte"


@pytest.mark.parametrize("data", [b"\x7fELF\0\0", b"text\0more", bytes(1000)])
def test_binary_content_is_refused(data: bytes) -> None:
    with pytest.raises(NoText):
        read(data)


@given(st.text(alphabet="ab\n\r中é", max_size=200), st.integers(1, 20), st.integers(0, 20), st.integers(1, 9))
def test_any_chunking_gives_the_lines_that_splitting_gives(
    content: str, first: int, more: int, chunk: int
) -> None:
    whole = content.split("\n")
    whole = whole[:-1] if whole[-1] == "" else whole
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "CHUNK", chunk)
        patch.setattr(text, "SAMPLE", 7)
        excerpt = read(content.encode(), first, first + more)
    assert excerpt.total == len(whole)
    if excerpt.encoding == "utf-8":
        assert excerpt.lines == [line.removesuffix("\r") for line in whole[first - 1 : first + more]]


def test_a_file_of_a_gigabyte_fills_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "huge.log"
    line = b"a line of a log file, as there are many\n"
    with path.open("wb") as file:
        file.write(line * 20_000)
        file.truncate(1 << 30)  # zeros, but behind the sample that tells text from binary
    tracemalloc.start()
    with path.open("rb") as file:
        excerpt = read_lines(file, 100, 103, 10_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert excerpt.lines == [line.decode().rstrip()] * 4
    assert not excerpt.whole
    assert peak < 20_000_000


def test_one_line_of_a_hundred_megabytes_fills_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "min.js"
    with path.open("wb") as file:
        file.write(b"x" * 70_000)
        file.truncate(100_000_000)
    tracemalloc.start()
    with path.open("rb") as file:
        excerpt = read_lines(file, 1, None, 10_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert excerpt.lines[0].startswith("x" * MAX_LINE)
    assert peak < 20_000_000


def test_reading_stops_when_nobody_waits() -> None:
    asked = iter([False, True])
    excerpt = read_lines(io.BytesIO(b"x\n" * 1_000_000), 900_000, None, 1000, lambda: next(asked))
    assert excerpt.lines == []
