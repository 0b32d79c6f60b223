"""``pet token``: what scripts and editors connect with."""

from __future__ import annotations

from pathlib import Path

import typer

from server.cli.place import FAILED, find, say_error, terminal_locale
from server.gateway.token import TokenFile
from server.messages import render


def run(config: Path | None, data_dir: Path | None) -> None:
    location = find(config, data_dir)
    try:
        typer.echo(TokenFile(location.data_dir).read())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        say_error(render("cli.cannot_prepare", terminal_locale(), reason=reason))
        raise typer.Exit(FAILED) from None
