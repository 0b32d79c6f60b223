"""What is wrong with a configuration, and how it is said."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from server.errors import PetError
from server.messages import render
from server.protocol import ErrorCode, Locale

Params = Mapping[str, str | int | float]
OLD_FORM: Final = "old_form"
MOST_TOLD: Final = 20
MOST_NOTICED: Final = 3
_MORE: Final = "more"
_MOST_PART: Final = 80


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong at ``path``; ``kind`` and ``fix`` name texts of the catalogue."""

    path: tuple[str | int, ...]
    kind: str
    fix: str
    params: Params = field(default_factory=dict)


def finding(
    path: Sequence[str | int], kind: str, fix: str | None = None, **params: str | int | float
) -> Finding:
    return Finding(tuple(path), kind, fix or f"{kind}_fix", params)


def dotted(path: Sequence[str | int]) -> str:
    """``("server", "hosts", 1)`` as ``server.hosts[1]``; keys that TOML would quote are quoted."""
    shown = ""
    for part in path:
        if isinstance(part, int):
            shown += f"[{part}]"
        else:
            bare = part != "" and all(char.isascii() and (char.isalnum() or char in "-_") for char in part)
            part = part[:_MOST_PART]
            shown += ("." if shown else "") + (part if bare else f'"{part}"')
    return shown


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a file; ``line`` and ``column`` count from 1, ``key`` is dotted ("" = the file)."""

    file: str
    line: int | None
    key: str
    kind: str
    fix: str
    params: Params = field(default_factory=dict)
    column: int | None = None

    @property
    def message(self) -> str:
        return self.what("en")

    @property
    def remedy(self) -> str:
        return self.right("en")

    def what(self, locale: Locale) -> str:
        """What is wrong."""
        return render(f"config.{self.kind}", locale, **self.params)

    def right(self, locale: Locale) -> str:
        """What would be right."""
        return render(f"config.{self.fix}", locale, **self.params)

    def render(self, locale: Locale) -> str:
        """``lab.toml:12: agent.models.chat.modle: unknown key; did you mean "model"?``"""
        place = self.file
        if self.line is not None:
            place += f":{self.line}" + (f":{self.column}" if self.column is not None else "")
        return f"{place}: {self.detail(locale)}"

    def detail(self, locale: Locale) -> str:
        """The same without the place."""
        key = f"{self.key}: " if self.key else ""
        return f"{key}{self.what(locale)}{'；' if locale == 'zh-CN' else '; '}{self.right(locale)}"

    def __str__(self) -> str:
        return self.render("en")


def fewer(problems: Sequence[Problem], most: int) -> list[Problem]:
    """The first ``most`` of them and, in the place of the others, one that counts them."""
    rest = problems[most:]
    count = sum(int(problem.params["count"]) if problem.kind == _MORE else 1 for problem in rest)
    if count <= 1:
        return list(problems)
    more = Problem(problems[0].file, None, "", _MORE, f"{_MORE}_fix", {"count": count})
    return [*problems[:most], more]


class ConfigError(Exception):
    """A file that doesn't validate: what is wrong with it, in the order of its lines; of very much, the
    first, and how much more there is.

    Attributes:
        old_form: whether ``pet config migrate`` would help.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.old_form = any(problem.kind == OLD_FORM for problem in problems)
        self.problems = fewer(sorted(problems, key=lambda problem: problem.line or 0), MOST_TOLD)
        super().__init__("\n".join(map(str, self.problems)))

    def render(self, locale: Locale) -> str:
        return "\n".join(problem.render(locale) for problem in self.problems)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something about the configuration that its user should hear while the program runs.

    Attributes:
        text: key of the message in the catalogue; it may name ``{problems}``.
    """

    text: str
    values: Params = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def params(self, locale: Locale) -> dict[str, str | int | float]:
        """What ``text`` names, in the reader's language."""
        told = " ".join(problem.render(locale) for problem in fewer(self.problems, MOST_NOTICED))
        return {**self.values, "problems": told}

    def message(self, locale: Locale) -> str:
        return render(self.text, locale, **self.params(locale))

    def __str__(self) -> str:
        return self.message("en")


class SettingsRefused(PetError):
    """A change that the configuration can't take; names the first problem in the reader's language."""

    def __init__(self, code: ErrorCode, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(code, "config.change_refused", detail=self.problems[0].detail("en"))

    def message(self, locale: Locale) -> str:
        return render(self.text, locale, detail=self.problems[0].detail(locale))


def unwritable(error: OSError) -> PetError:
    """Why lab.toml or a file beside it couldn't be written; nothing was changed."""
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return PetError("forbidden", "config.read_only")
    return PetError("internal", "config.cannot_write", reason=error.strerror or type(error).__name__)
