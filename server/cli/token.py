"""``pet token``: what scripts and editors connect with."""

from __future__ import annotations

from pathlib import Path

import typer

from server.cli.place import find, owners_token


def run(config: Path | None, data_dir: Path | None) -> None:
    typer.echo(owners_token(find(config, data_dir)))
