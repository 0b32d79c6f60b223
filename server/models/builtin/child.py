"""The process that runs a GGUF file. It imports nothing of ours, so that it can be started by its path.

Its orders come as one line of JSON on stdin (the key never shows in a process list); its address goes as one
line of JSON to stdout. It ends when stdin does, which happens however its parent ends.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

_ASK_FOR_SIGKILL = 1  # PR_SET_PDEATHSIG
_SIGKILL = 9
_LOOP_FROM_TOKENS = 6


@dataclass(frozen=True, slots=True)
class Orders:
    """What the child runs.

    Attributes:
        path: of the GGUF file.
        context_tokens: at most that many; fewer where the model was trained for fewer.
        max_reply_tokens: a reply is cut there; -1 = never.
        loop_penalty: how much long repetitions are avoided (DRY sampling's multiplier); 0 = not at all.
        api_key: what a request must carry.
        parent: the process that started this one.
    """

    path: str
    context_tokens: int
    max_reply_tokens: int
    loop_penalty: float
    api_key: str
    parent: int

    def line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"


def main() -> NoReturn:
    orders = Orders(**json.loads(sys.stdin.buffer.readline()))
    _die_with_parent(orders.parent)
    threading.Thread(target=_end_with_stdin, daemon=True).start()

    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = orders.path
    params.n_ctx = orders.context_tokens
    params.n_parallel = 2
    params.kv_unified = True  # both slots share the context, so that each may use all of it
    params.n_predict = orders.max_reply_tokens
    params.sampling.dry_multiplier = orders.loop_penalty
    params.sampling.dry_allowed_length = _LOOP_FROM_TOKENS
    params.sampling.dry_penalty_last_n = -1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [orders.api_key]
    params.ui = False
    params.endpoint_slots = False
    params.cors_origins = ""
    params.cors_credentials = False
    params.cache_ram_mib = 256
    params.offline = True
    params.verbosity = 1
    server = xllamacpp.Server(params)
    print(json.dumps({"address": server.listening_address}), flush=True)
    threading.Event().wait()
    os._exit(0)


def _end_with_stdin() -> None:
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)


def _die_with_parent(parent: int) -> None:
    """On Linux also while the model loads, when no thread of Python runs that could see the end of stdin."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_ASK_FOR_SIGKILL, _SIGKILL)
        if os.getppid() != parent:
            os._exit(0)


if __name__ == "__main__":
    main()
