"""The process that reads one page: an order on its input, what it read on its output
(:mod:`tools.web.reading.apart` starts it).

A hostile page can make any parser run for minutes, fill the memory or crash; here it harms nothing but this
process, which has no keys in its environment and limits of its own.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from dataclasses import asdict
from typing import Final, Literal, TypeAlias, cast

from tools.web.reading import Reading, Unreadable

Kind: TypeAlias = Literal["html", "pdf"]

MEMORY: Final = 1_500_000_000
CPU_S: Final = 15


def order(kind: Kind, url: str, charset: str | None) -> bytes:
    """The first line of the child's input; the page's bytes follow."""
    return json.dumps({"kind": kind, "url": url, "charset": charset}).encode("ascii") + b"\n"


def main() -> None:
    output = os.fdopen(os.dup(1), "wb")
    _silence()
    _limit()
    wanted = json.loads(sys.stdin.buffer.readline())
    body = sys.stdin.buffer.read()
    answer: dict[str, object]
    try:
        answer = asdict(_read(wanted["kind"], body, wanted["url"], wanted["charset"]))
    except Unreadable as error:
        answer = {"unreadable": str(error)}
    except MemoryError:
        answer = {"unreadable": "needs more memory than a page may"}
    output.write(json.dumps(answer).encode("ascii"))
    output.flush()
    os._exit(0)  # nothing to tidy up; a tree of a million elements takes its time


def reading(answer: bytes) -> Reading:
    """What the child has written.

    Raises:
        Unreadable: it says that the page can't be read, or it says nothing sensible.
    """
    try:
        data = json.loads(answer)
        if "unreadable" in data:
            raise Unreadable(str(data["unreadable"]))
        links = [(str(text), str(url)) for text, url in data["links"]]
        return Reading(str(data["title"]), str(data["text"]), links, cut=data["cut"] is True)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Unreadable("can't be read") from error


def _read(kind: str, body: bytes, url: str, charset: str | None) -> Reading:
    if cast(Kind, kind) == "pdf":
        from tools.web.reading.pdf import read_pdf

        return read_pdf(body)
    from tools.web.reading.html import read_html

    return read_html(body, url, charset)


def _silence() -> None:
    """Whatever libraries print goes nowhere."""
    logging.disable(logging.CRITICAL)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _limit() -> None:
    if sys.platform != "win32":
        import resource

        for kind, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, CPU_S)):
            _, hard = resource.getrlimit(kind)
            if hard == resource.RLIM_INFINITY or hard > most:
                try:
                    resource.setrlimit(kind, (most, most))
                except (ValueError, OSError):  # macOS takes no limit of the address space
                    continue
