"""PDF to text, page by page until the limits."""

from __future__ import annotations

import io
import time
from typing import Final

from tools.web.reading import MAX_TEXT, MAX_TITLE, Reading, Unreadable

MAX_PAGES: Final = 60
BUDGET_S: Final = 4.0


def read_pdf(body: bytes, *, budget_s: float = BUDGET_S) -> Reading:
    """
    Args:
        budget_s: no further page is begun after that many seconds.

    Raises:
        Unreadable: it is broken or locked, or holds no text.
    """
    import pypdf

    with pypdf.apply_configuration(
        zlib_maximum_output_length=20_000_000,
        lzw_maximum_output_length=20_000_000,
        run_length_maximum_output_length=20_000_000,
        stream_parsing_work_maximum_count=500_000,
        stream_decoding_work_maximum_length=60_000_000,
        jbig2dec_binary=None,
    ):
        try:
            return _read(pypdf.PdfReader(io.BytesIO(body)), budget_s)
        except Unreadable:
            raise
        except Exception as error:  # its own documentation: broken files might cause any exception
            raise Unreadable("is a PDF that is broken") from error


def _read(reader: object, budget_s: float) -> Reading:
    import pypdf
    from pypdf.errors import DependencyError

    assert isinstance(reader, pypdf.PdfReader)
    if reader.is_encrypted:
        try:
            opened = reader.decrypt("")
        except (DependencyError, NotImplementedError) as error:
            raise Unreadable("is a PDF with a protection that can't be opened here") from error
        if not opened:
            raise Unreadable("is a PDF that is protected by a password")
    ends = time.monotonic() + budget_s
    count = len(reader.pages)
    pages: list[str] = []
    length = 0
    for index in range(min(count, MAX_PAGES)):
        if length > MAX_TEXT or (pages and time.monotonic() > ends):
            break
        text = reader.pages[index].extract_text().strip()
        pages.append(text)
        length += len(text)
    if not length:
        raise Unreadable("is a PDF without text, perhaps a scan")
    text = "\n\n".join(f"[page {number}]\n{text}" for number, text in enumerate(pages, 1) if text)
    return Reading(_title(reader), text[:MAX_TEXT], cut=len(pages) < count or len(text) > MAX_TEXT)


def _title(reader: object) -> str:
    title = getattr(getattr(reader, "metadata", None), "title", None)
    return " ".join(title.split())[:MAX_TITLE] if isinstance(title, str) else ""
