"""How fast hidden markers are found: CPU time, the best of several runs.

Reach: 20 MB/s, and ten times the text in at most eleven times the time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from server.expression.markers import MarkerParser

_SENTENCE = "Here is `a[0]`, [[motion:nod]] and a bit more of what a reply looks like, 也有中文。 "
_REPLY = _SENTENCE * 8 + "\n```python\nx = a[[0]]  # [[motion:nod]]\n```\n" + "Plain words, " * 20 + "\n"
_HOSTILE = {
    "lone backticks": "x ` ",
    "brackets": "[[motion:",
    "runs": "`` ` ``` ",
    "fences": "\n~~~ `",
    "words": "word ",
}


def seconds(pieces: Sequence[str], runs: int = 3) -> float:
    """CPU seconds for one reply, fed in ``pieces``."""
    best = float("inf")
    for _ in range(runs):
        parser = MarkerParser()
        begin = time.process_time()
        for piece in pieces:
            parser.feed(piece)
        parser.close()
        best = min(best, time.process_time() - begin)
    return best


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def text_of(unit: str, characters: int) -> str:
    return unit * (characters // len(unit))


def main() -> None:
    whole = text_of(_REPLY, 2_000_000)
    megabytes = len(whole.encode()) / 1e6
    print("pieces of          MB/s   µs a piece")
    for size in (len(whole), 4096, 64, 16, 4, 1):
        pieces = cut(whole[: max(size, 300_000)], size)
        took = seconds(pieces)
        share = sum(map(len, pieces)) / len(whole)
        print(f"{size:>9} chars {megabytes * share / took:8.1f} {took / len(pieces) * 1e6:12.2f}")
    print("\nten times the text takes (at most 11 times the time)")
    for name, unit in {"a usual reply": _REPLY, **_HOSTILE}.items():
        for size in (1_000_000, 5):
            small, large = (cut(text_of(unit, characters), size) for characters in (100_000, 1_000_000))
            how = "in one" if size > 5 else "in fives"
            print(f"{name:>16}, {how}: {seconds(large) / seconds(small):5.2f} times")


if __name__ == "__main__":
    main()
