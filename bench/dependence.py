"""How well a message that depends on its context is told from one that doesn't, and what that costs.

The plain rules of behaviour.md stand beside the scorer, on the held-out half of the project's own messages.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence

from scripts.dependence_data import Example, area_under_curve, examples, rates
from server.agent.dependence import dependence

_REFERENCE = re.compile(r"继续|刚才|上一个|那个|同样|再来一次|你说的|第.个|前面|\b(?:this|that)\b|(?i:it)")
_CHOICE = re.compile(r"^(?:选?\s*[a-dA-D1-9]|第.个|最后一个)\s*[。.]?$")
_CONFIRMATION = re.compile(r"(?i)^(?:对|不是|可以|行|好|嗯|ok|yes|no)")
_OPENING_PRONOUN = re.compile(r"(?i)^(?:[他她它这那]|(?:he|she|it|they|this|that|these|those)\b)")
_ADDRESS = re.compile(r"https?://\S+|\w+[/\\]\w+|\w\.(?:py|md|js|ts|json|toml)\b")
PLAIN_BORDER = 3


def plain_rules(text: str) -> int:
    """The rules of the notes, as they stand there."""
    return (
        (3 if len(text.strip()) <= 6 else 0)
        + (2 if _REFERENCE.search(text) else 0)
        + (2 if _CHOICE.search(text) else 0)
        + (2 if _CONFIRMATION.search(text) else 0)
        + (1 if _OPENING_PRONOUN.search(text) else 0)
        - (2 if _ADDRESS.search(text) else 0)
    )


def microseconds(judge: Callable[[str], object], texts: Sequence[str], runs: int = 5) -> float:
    """CPU time a message, the best of several runs."""
    best = float("inf")
    for _ in range(runs):
        begin = time.process_time()
        for text in texts:
            judge(text)
        best = min(best, time.process_time() - begin)
    return best / len(texts) * 1e6


def figures(held_out: Iterable[Example]) -> str:
    rows = list(held_out)
    ours = [(dependence(example.text), example.dependent) for example in rows]
    plain = [(plain_rules(example.text), example.dependent) for example in rows]
    cells = []
    for scored, judged in (
        (plain, [(score >= PLAIN_BORDER, truth) for score, truth in plain]),
        ([(it.score, truth) for it, truth in ours], [(it.dependent, truth) for it, truth in ours]),
    ):
        recall, alarms = rates(judged)
        cells.append(f"{area_under_curve([(s, t) for s, t in scored]):8.3f} {recall:7.3f} {alarms:7.3f}")
    return f"{len(rows):>6}   {'   '.join(cells)}"


def main() -> None:
    held_out = [example for example in examples() if example.held_out]
    print("held-out half        plain rules: area, recall, false alarms   ours")
    for subject in sorted({example.subject for example in held_out}):
        print(f"{subject:>10} {figures(example for example in held_out if example.subject == subject)}")
    print(f"{'all':>10} {figures(held_out)}")
    texts = [example.text for example in held_out]
    ours, plain = microseconds(dependence, texts), microseconds(plain_rules, texts)
    print(f"\nµs a message: plain rules {plain:.1f}, ours {ours:.1f}: {ours / plain:.1f} times")


if __name__ == "__main__":
    main()
