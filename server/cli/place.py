"""The two options that every command takes, and the language of the terminal."""

from __future__ import annotations

import locale
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from server.cli.output import printable
from server.config.locate import Location, locate, prepare
from server.config.problems import ConfigError
from server.errors import PetError
from server.gateway.token import TokenFile
from server.messages import render
from server.protocol import Locale

INVALID_CONFIG = 2
FAILED = 1

ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="The lab.toml to use.", show_default=False)
]
DataDirOption = Annotated[
    Path | None, typer.Option("--data-dir", help="The data folder to use.", show_default=False)
]


def terminal_locale() -> Locale:
    """Chinese where the environment says so, else English."""
    names = [os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG")]
    language = next((name for name in names if name), None)
    if language is None:
        language = locale.getlocale()[0] or ""
    return "zh-CN" if language.lower().startswith(("zh", "chinese")) else "en"


def say_error(message: str) -> None:
    """Others' words in ``message`` can't command the terminal; nor can a closed one stop the command."""
    with suppress(OSError):
        typer.echo(printable(message), err=True)


def find(config: Path | None, data_dir: Path | None) -> Location:
    """Where this companion lives, with what the first start needs.

    Raises:
        typer.Exit: a folder can't be made.
    """
    location = locate(config, data_dir)
    try:
        prepare(location)
    except OSError as error:
        say_error(not_prepared(error))
        raise typer.Exit(FAILED) from None
    return location


def not_prepared(error: OSError) -> str:
    """Why :func:`find` fails, in the terminal's language."""
    return render("cli.cannot_prepare", terminal_locale(), reason=error.strerror or type(error).__name__)


def owners_token(location: Location) -> str:
    """
    Raises:
        typer.Exit: it can be neither read nor made.
    """
    try:
        return TokenFile(location.data_dir).read()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        say_error(render("cli.no_token", terminal_locale(), reason=reason))
        raise typer.Exit(FAILED) from None


@contextmanager
def readable_errors() -> Iterator[None]:
    """Ends the command with a message instead of a stack: 2 for an invalid file, 1 for the rest."""
    language = terminal_locale()
    try:
        yield
    except ConfigError as error:
        say_error(error.render(language))
        raise typer.Exit(INVALID_CONFIG) from None
    except PetError as error:
        hint = error.hint(language)
        say_error(f"{error.message(language)}{f' {hint}' if hint else ''}")
        raise typer.Exit(FAILED) from None
