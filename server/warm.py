"""Does ahead of the first message what it would have to wait for: imports and tables, in a thread."""

from __future__ import annotations

import importlib
from typing import Final

from server.agent.dependence import dependence
from server.agent.route import route

_MODULES: Final = ("limits.aio.storage", "limits.aio.strategies", "jsonschema")


def warm_up() -> None:
    for module in _MODULES:
        importlib.import_module(module)
    route("warm", {}, True)
    dependence("warm")
