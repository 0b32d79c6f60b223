"""Makes the weights of the dependence scorer: ``python -m scripts.train_dependence`` (a few seconds).

Logistic regression with shrinking weights, in plain Python; the same data give the same file. The border is
chosen within the training half, by cross-validation, for recall: a missed dependence costs more than a false
alarm. The held-out half is only ever measured (``python -m bench.dependence``).
"""

from __future__ import annotations

import json
import math
import random
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from scripts.dependence_data import ROOT, Example, area_under_curve, examples, fingerprint, rates
from server.agent.dependence.features import see

TARGET: Final = ROOT / "server" / "agent" / "dependence" / "weights.json"
RECALL: Final = 0.97
_EPOCHS: Final = 30
_RATE: Final = 0.15
_SHRINK: Final = 0.02
_FOLDS: Final = 5
_RARE: Final = 2
_SMALLEST: Final = 0.004
_DIGITS: Final = 3

Row = tuple[frozenset[str], bool]


def fit(rows: Sequence[Row]) -> dict[str, float]:
    """Weights that tell the rows apart; each step is smaller for a feature that was often corrected."""
    seen = Counter(feature for features, _ in rows for feature in features)
    data = [(sorted(f for f in features if seen[f] >= _RARE), dependent) for features, dependent in rows]
    weights: defaultdict[str, float] = defaultdict(float)
    corrected: defaultdict[str, float] = defaultdict(lambda: 1.0)
    mean: defaultdict[str, float] = defaultdict(float)
    order = list(range(len(data)))
    shuffle = random.Random(1).shuffle
    for epoch in range(_EPOCHS):
        shuffle(order)
        for at in order:
            features, dependent = data[at]
            value = sum(weights[feature] for feature in features)
            error = (1.0 if dependent else 0.0) - 1 / (1 + math.exp(-max(-30.0, min(30.0, value))))
            for feature in features:
                step = error - _SHRINK * weights[feature]
                corrected[feature] += step * step
                weights[feature] += _RATE * step / math.sqrt(corrected[feature])
        if epoch >= _EPOCHS // 2:
            for feature, weight in weights.items():
                mean[feature] += weight / (_EPOCHS - _EPOCHS // 2)
    return dict(mean)


def score(weights: dict[str, float], features: Iterable[str]) -> float:
    return sum(weights.get(feature, 0.0) for feature in features)


def main() -> None:
    training = [example for example in examples() if not example.held_out]
    rows = [(see(example.text).features, example.dependent) for example in training]
    scored = _cross_validated(training, rows)
    threshold = round(_border([(value, ex.dependent) for value, ex in scored if "chat" in ex.subject]), 3)
    weights = {
        feature: round(weight, _DIGITS)
        for feature, weight in sorted(fit(rows).items())
        if abs(weight) >= _SMALLEST
    }
    model = {"made_from": fingerprint(), "threshold": threshold, "weights": weights}
    TARGET.write_text(json.dumps(model, ensure_ascii=False, indent=0) + "\n", encoding="utf-8", newline="\n")
    area = area_under_curve([(value, example.dependent) for value, example in scored])
    recall, alarms = rates([(value >= threshold, example.dependent) for value, example in scored])
    print(f"{len(training)} messages, {len(weights)} weights, {TARGET.stat().st_size / 1024:.0f} KiB")
    print(f"within the training half: area {area:.3f}, recall {recall:.3f}, false alarms {alarms:.3f}")


def _cross_validated(training: Sequence[Example], rows: Sequence[Row]) -> list[tuple[float, Example]]:
    folds = [zlib.crc32(b"fold" + example.group.encode()) % _FOLDS for example in training]
    scored = []
    for fold in range(_FOLDS):
        weights = fit([row for row, its in zip(rows, folds, strict=True) if its != fold])
        scored += [
            (score(weights, row[0]), example)
            for row, its, example in zip(rows, folds, training, strict=True)
            if its == fold
        ]
    return scored


def _border(scored: Iterable[tuple[float, bool]]) -> float:
    """The highest border that still catches the share ``RECALL`` of what depends."""
    values = sorted((value for value, dependent in scored if dependent), reverse=True)
    return values[math.ceil(RECALL * len(values)) - 1]


if __name__ == "__main__":
    main()
