from __future__ import annotations

import gzip
import zlib

import pytest

from tools.web.decode import Broken, Unpacker, to_text

CHINESE = "今天天气很好，我们去公园散步吧。明天可能会下雨，记得带伞。" * 4
JAPANESE = "今日はとても良い天気ですね。公園へ散歩に行きましょう。明日は雨かもしれません。" * 4
GERMAN = "Größe, Übermut und Straße"


def html(label: str, text: str) -> str:
    return f'<html><head><meta charset="{label}"></head><body>{text}</body></html>'


@pytest.mark.parametrize(
    ("text", "encoding", "declared"),
    [
        (CHINESE, "utf-8", "utf-8"),
        (CHINESE, "utf-8", None),
        (CHINESE, "utf-8", "ISO-8859-1"),
        (CHINESE, "gbk", "gbk"),
        (CHINESE, "gb18030", "GB2312"),
        (CHINESE, "gbk", "x-gbk"),
        (CHINESE, "gbk", None),
        (CHINESE, "gbk", "utf-8"),
        (CHINESE, "utf-8", "gb2312-nonsense"),
        (JAPANESE, "shift_jis", "Shift_JIS"),
        (JAPANESE, "cp932", "windows-31j"),
        (JAPANESE, "shift_jis", None),
        (JAPANESE, "euc_jp", "EUC-JP"),
        (JAPANESE, "iso2022_jp", "iso-2022-jp"),
        (GERMAN, "latin-1", "iso-8859-1"),
        ("“quoted” – €", "cp1252", "ISO-8859-1"),
        ("Привет, как дела?", "koi8-r", "KOI8-R"),
        ("안녕하세요", "euc_kr", "euc-kr"),
        (CHINESE, "utf-8-sig", "latin-1"),
        (CHINESE, "utf-16", None),
        (CHINESE, "utf-16", "utf-8"),
    ],
)
def test_the_character_set_is_found(text: str, encoding: str, declared: str | None) -> None:
    assert to_text(text.encode(encoding), declared) == text


@pytest.mark.parametrize(
    ("label", "encoding", "text"),
    [
        ("gb2312", "gbk", CHINESE),
        ("shift_jis", "cp932", JAPANESE),
        ("utf-8", "utf-8", CHINESE),
        ("Big5", "big5", "中文網頁"),
    ],
)
def test_a_page_may_name_its_own(label: str, encoding: str, text: str) -> None:
    page = html(label, text)
    assert to_text(page.encode(encoding), None) == page
    assert to_text(page.encode(encoding), "iso-8859-1") == page or encoding != "utf-8"


@pytest.mark.parametrize(
    "label", ["unicode_escape", "punycode", "idna", "utf-7", "rot13", "hex", "undefined", "zip", "\0"]
)
def test_what_is_no_character_set_of_the_web_is_not_used(label: str) -> None:
    assert to_text(b"\\x41 +AGE- abc", label) == "\\x41 +AGE- abc"


@pytest.mark.parametrize("body", [b"", b"\xff", b"\xff\xfe", b"\xfe\xff\xd8", bytes(range(256)), b"\xe4\xbd"])
@pytest.mark.parametrize("declared", [None, "utf-8", "gbk", "shift_jis", "utf-16", "nonsense"])
def test_no_bytes_are_an_error(body: bytes, declared: str | None) -> None:
    assert isinstance(to_text(body, declared), str)


def test_a_character_that_was_cut_in_two_spoils_nothing() -> None:
    assert to_text(CHINESE.encode()[:-1], "utf-8") == CHINESE[:-1]


def test_a_body_is_unpacked_as_it_comes_and_never_beyond_its_room() -> None:
    packed = gzip.compress(bytes(1_000_000))
    unpacker = Unpacker("gzip")
    out = b"".join(
        unpacker.feed(packed[start : start + 100], 10_000_000) for start in range(0, len(packed), 100)
    )
    assert out == bytes(1_000_000)
    assert len(Unpacker("gzip").feed(packed, 1000)) == 1000
    assert Unpacker("gzip").feed(packed, 0) == b""
    assert Unpacker("").feed(b"abc", 2) == b"ab"


def test_what_follows_a_packed_body_is_ignored() -> None:
    unpacker = Unpacker("gzip")
    assert unpacker.feed(gzip.compress(b"a") + b"rubbish", 100) == b"a"
    assert unpacker.feed(b"more", 100) == b""


def test_deflate_is_read_with_and_without_its_frame() -> None:
    assert Unpacker("deflate").feed(zlib.compress(b"abc"), 10) == b"abc"
    assert Unpacker("deflate").feed(zlib.compress(b"abc")[2:-4], 10) == b"abc"
    with pytest.raises(Broken):
        Unpacker("deflate").feed(b"\xff\xff", 10)
