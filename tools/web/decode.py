"""Bytes of a page become text: unpacking with a bound, and finding out the character set."""

from __future__ import annotations

import codecs
import re
import zlib
from typing import Final

_SAMPLE: Final = 65_536
_META: Final = re.compile(
    rb"""<(?:meta[^<>]{0,400}?charset|\?xml[^<>]{0,200}?encoding)\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]{1,40})""",
    re.IGNORECASE,
)
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Character sets that pages are written in. Python knows more "encodings", some of which run for ever or run
# code's escapes; a page doesn't choose among those.
_OF_THE_WEB: Final = re.compile(
    r"utf-8|ascii|iso8859-[0-9]{1,2}|cp125[0-8]|cp866|cp874|tis-620|koi8-[ru]|mac-(?:roman|cyrillic)"
    r"|gb2312|gbk|gb18030|hz|big5|big5hkscs|shift_jis|cp932|euc_jp|iso2022_jp|euc_kr|cp949"
)
_ALIASES: Final = {
    "windows-31j": "cp932",
    "ms_kanji": "cp932",
    "x-sjis": "cp932",
    "x-gbk": "gbk",
    "x-euc-jp": "euc_jp",
    "macintosh": "mac-roman",
    "unicode-1-1-utf-8": "utf-8",
}
# What browsers read for these labels: each is a larger set than the label says.
_READ_AS: Final = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "hz": "gb18030",
    "shift_jis": "cp932",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
}
_WESTERN: Final = "cp1252"


class Broken(Exception):
    """A packed body that can't be unpacked."""


class Unpacker:
    """Unpacks a body as it comes, never more than asked for: what a kilobyte packs may be a gigabyte.

    Args:
        coding: of ``Content-Encoding``: ``gzip``, ``x-gzip``, ``deflate``, ``identity`` or "".

    Raises:
        Broken: another coding, or several.
    """

    def __init__(self, coding: str) -> None:
        coding = coding.strip().lower()
        if coding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise Broken(f"packed as {coding[:20]!r}")
        self._plain = coding in ("", "identity")
        self._may_be_raw = coding == "deflate"
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS if coding == "deflate" else zlib.MAX_WBITS | 16)

    def feed(self, block: bytes, room: int) -> bytes:
        """The text of ``block``, at most ``room`` bytes of it; what is beyond is lost.

        Raises:
            Broken: it isn't what ``Content-Encoding`` says.
        """
        if self._plain:
            return block[:room]
        if self._inflate.eof or not block or room <= 0:
            return b""
        try:
            out = self._inflate.decompress(block, room)
        except zlib.error as error:
            if not self._may_be_raw:
                raise Broken("not packed as it says") from error
            # Half of the servers that say deflate leave zlib's frame out.
            self._may_be_raw = False
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
            return self.feed(block, room)
        self._may_be_raw = False
        return out


def to_text(body: bytes, declared: str | None) -> str:
    """``body`` as text: by its byte order mark, the ``declared`` character set, the one it names itself,
    UTF-8, or a guess, whichever first fits. What fits nothing is replaced, never an error."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    names = [name for name in (_codec(declared), _codec(_own(body))) if name]
    utf8 = _strict(body, "utf-8")
    if utf8 is not None and (not names or names[0] == _WESTERN):
        # A server's default often says Latin-1, which fits every byte; UTF-8 fits by chance only.
        return utf8
    for name in names:
        text = _strict(body, name)
        if text is not None:
            return text
    if utf8 is not None:
        return utf8
    guessed = _guess(body)
    text = _strict(body, guessed) if guessed else None
    return text if text is not None else body.decode((names or [guessed or "utf-8"])[0], "replace")


def _own(body: bytes) -> str | None:
    match = _META.search(body[:4096])
    return match[1].decode("ascii", "replace") if match else None


def _codec(label: str | None) -> str | None:
    """Python's name of the character set that ``label`` means, None for one that isn't known."""
    if not label:
        return None
    label = label.strip(" \t\"'").lower()
    try:
        name = codecs.lookup(_ALIASES.get(label, label)).name
    except (LookupError, ValueError):
        return None
    return _READ_AS.get(name, name) if _OF_THE_WEB.fullmatch(name) else None


def _strict(body: bytes, name: str) -> str | None:
    """None where ``body`` isn't in that character set; a character cut in two at the very end is forgiven."""
    decoder = codecs.getincrementaldecoder(name)("strict")
    try:
        return decoder.decode(body)
    except UnicodeError:
        return None


def _guess(body: bytes) -> str | None:
    import charset_normalizer

    best = charset_normalizer.from_bytes(body[:_SAMPLE]).best()
    return _codec(best.encoding) if best else None
