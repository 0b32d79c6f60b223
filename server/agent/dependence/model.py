"""The shipped weights: a linear model over the features, made by ``python -m scripts.train_dependence``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

WEIGHTS_FILE: Final = "weights.json"


@dataclass(frozen=True, slots=True)
class Model:
    """A linear model: a message's value is the sum of the weights of its features.

    Attributes:
        threshold: from this value on a message depends; chosen for recall.
        made_from: hash of the training data and of the code that reads it.
    """

    weights: Mapping[str, float]
    threshold: float
    made_from: str

    def value(self, features: Iterable[str]) -> float:
        weights = self.weights
        return sum(weights.get(feature, 0.0) for feature in features)


@cache
def shipped() -> Model:
    text = files("server.agent.dependence").joinpath(WEIGHTS_FILE).read_text(encoding="utf-8")
    data = json.loads(text)
    return Model(weights=data["weights"], threshold=data["threshold"], made_from=data["made_from"])
