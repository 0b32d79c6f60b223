"""The log where it can't be written."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.log import set_up_logging


@pytest.fixture(autouse=True)
def other_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, raising = root.handlers[:], root.level, logging.raiseExceptions
    yield
    for handler in set(root.handlers) - set(handlers):
        handler.close()
    root.handlers[:], logging.raiseExceptions = handlers, raising
    root.setLevel(level)


def test_a_log_that_cannot_be_written_prints_no_stack(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pet.log").mkdir()
    set_up_logging(tmp_path)
    logging.getLogger("server").info("for the file alone")
    logging.getLogger("server").warning("for the terminal")
    shown = capsys.readouterr().err
    assert "for the terminal" in shown
    assert "Logging error" not in shown
    assert str(tmp_path) not in shown
