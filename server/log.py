"""Where the log goes: warnings to the terminal, everything to ``pet.log`` in the data folder.

Keys are masked in every line, whatever wrote it.
"""

from __future__ import annotations

import contextlib
import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path

from server.masking import mask_secrets

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_MAX_BYTES = 1_000_000


class _Masked(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return mask_secrets(super().format(record))


def set_up_logging(data_dir: Path, *, terminal: bool = True) -> None:
    """Replaces the root logger's handlers. A log that can't be written is no reason to tell anybody."""
    logging.raiseExceptions = False
    handlers: list[logging.Handler] = [logging.StreamHandler() if terminal else logging.NullHandler()]
    handlers[0].setLevel(logging.WARNING)
    with contextlib.suppress(OSError):
        handlers.append(
            RotatingFileHandler(
                data_dir / "pet.log", maxBytes=_MAX_BYTES, backupCount=2, encoding="utf-8", delay=True
            )
        )
    for handler in handlers:
        handler.setFormatter(_Masked(_FORMAT))
    logging.basicConfig(level=logging.INFO, handlers=handlers, force=True)
    for noisy in ("websockets.server", "httpx2", "httpcore2", "openai"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    for told_by_us in ("mcp", "client"):  # both of the package mcp: a stack for each answer that is none
        logging.getLogger(told_by_us).setLevel(logging.CRITICAL)
