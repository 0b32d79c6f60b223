"""``pet config``: look at lab.toml, check it, change it from the terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from server.cli.place import ConfigOption, DataDirOption

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.command()
def check(config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Say whether lab.toml is valid; name each mistake with its line and what would be right."""
    from server.cli.config_file import check_file

    check_file(config, data_dir)


@app.command()
def path(config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Print which lab.toml is read."""
    from server.cli.config_file import print_path

    print_path(config, data_dir)


@app.command()
def migrate(config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Bring a lab.toml of the old form into today's; comments stay, a backup is left beside it."""
    from server.cli.config_file import migrate_to_new_form

    migrate_to_new_form(config, data_dir)


@app.command("set")
def set_value(
    key: Annotated[str, typer.Argument(help="A key with dots, such as chat.temperature.")],
    value: Annotated[str, typer.Argument(help="A TOML value; anything else is taken as text.")],
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Change one value of lab.toml; comments and order stay."""
    from server.cli.config_file import set_in_file

    set_in_file(config, data_dir, key, value)
