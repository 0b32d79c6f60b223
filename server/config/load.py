"""Reads a lab.toml, quickly and completely: the configuration, or everything that is wrong with the file."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from server.config.check import check
from server.config.problems import ConfigError, Finding, Problem, dotted, finding
from server.config.prompts import is_prompt_path, prompt_path, stays_beside
from server.config.schema import Config
from server.config.toml_text import scan

MAX_BYTES: Final = 1024 * 1024
_BOM: Final = b"\xef\xbb\xbf"
_MOST_REASON: Final = 200
_PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A valid file: ``revision`` is the SHA-256 of its bytes."""

    config: Config
    revision: str
    path: Path


def revision_of(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def load(path: Path, *, shown: str | None = None) -> Loaded:
    """The configuration at ``path``; problems call the file ``shown``, or by its name.

    Raises:
        ConfigError: it can't be read, is no TOML or doesn't validate.
    """
    shown = shown or path.name
    raw = read(path, shown)
    return Loaded(validate(raw, path, shown), revision_of(raw), path)


def read(path: Path, shown: str) -> bytes:
    """The file's bytes.

    Raises:
        ConfigError: there is none, it can't be read or is larger than any lab.toml.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ConfigError([Problem(shown, None, "", "no_file", "no_file_fix")]) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError(
            [Problem(shown, None, "", "unreadable", "unreadable_fix", {"reason": reason})]
        ) from None
    if len(raw) > MAX_BYTES:
        params = {"limit": MAX_BYTES // (1024 * 1024)}
        raise ConfigError([Problem(shown, None, "", "file_too_large", "file_too_large_fix", params)])
    return raw


def validate(raw: bytes, path: Path, shown: str) -> Config:
    """The configuration that the bytes ``raw`` of the file ``path`` mean.

    Raises:
        ConfigError: all that is wrong with them.
    """
    text = decode(raw, shown)
    data = parse(text, shown)
    config, findings = check(data)
    findings += missing_prompts(data, path)
    if findings or config is None:
        raise ConfigError(place(findings, text, shown))
    return config


def decode(raw: bytes, shown: str) -> str:
    """UTF-8, with or without a byte order mark.

    Raises:
        ConfigError: something else.
    """
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError([Problem(shown, line, "", "not_utf8", "not_utf8_fix")]) from None


def encode_like(raw: bytes, text: str) -> bytes:
    """``text`` as UTF-8, with a byte order mark where the old bytes ``raw`` had one."""
    return (_BOM if raw.startswith(_BOM) else b"") + text.encode()


def parse(text: str, shown: str) -> dict[str, Any]:
    """The data of a TOML text.

    Raises:
        ConfigError: it is none; with line and column.
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        problem = Problem(shown, None, "", "too_deep", "too_deep_fix")
    except ValueError as error:
        reason = str(error)
        found = _PLACE.search(reason)
        line, column = (int(found[1]), int(found[2])) if found and found[1] else (None, None)
        if found and line is None:
            line = text.rstrip("\n").count("\n") + 1
        params = {"reason": (reason[: found.start()] if found else reason)[:_MOST_REASON]}
        problem = Problem(shown, line, "", "not_toml", "not_toml_fix", params, column)
    raise ConfigError([problem])


def place(findings: list[Finding], text: str, shown: str) -> list[Problem]:
    """Each finding with the line that it is about."""
    layout = scan(text)
    return [
        Problem(shown, layout.line(item.path), dotted(item.path), item.kind, item.fix, item.params)
        for item in findings
    ]


def missing_prompts(data: dict[str, Any], path: Path) -> Iterator[Finding]:
    """Prompts that name a file which isn't beside ``path``."""
    for table in ("agent", "site"):
        prompts = data.get(table, {}).get("prompts") if isinstance(data.get(table), dict) else None
        for name, value in prompts.items() if isinstance(prompts, dict) else ():
            if not isinstance(value, str) or not is_prompt_path(value):
                continue
            if not stays_beside(value):
                yield finding((table, "prompts", name), "prompt_not_beside", file=value[:200])
            elif not prompt_path(path, value).is_file():
                yield finding((table, "prompts", name), "no_prompt_file", file=value[:200])
