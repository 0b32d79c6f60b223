"""What ``pet`` understands. Each command's module is imported when it runs, so that ``pet`` starts fast."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from server import __version__
from server.cli import signals
from server.cli.config import app as config_app
from server.cli.place import ConfigOption, DataDirOption

app = typer.Typer(
    name="pet",
    help="A companion beside your editor. Without a command: serve, and open the page.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(config_app, name="config", help="The configuration file, lab.toml.")

HostOption = Annotated[
    str | None,
    typer.Option(help="The address to listen on instead of lab.toml's server.host.", show_default=False),
]
PortOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=65535,
        help="The port instead of lab.toml's server.port; 0 takes a free one.",
        show_default=False,
    ),
]
NoOpenOption = Annotated[bool, typer.Option("--no-open", help="Don't open the page in the browser.")]


@app.callback(invoke_without_command=True)
def main_command(
    context: typer.Context,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    host: HostOption = None,
    port: PortOption = None,
    no_open: NoOpenOption = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if context.invoked_subcommand not in (None, "serve"):
        signals.as_usual()
    given = {"config": config, "data_dir": data_dir, "host": host, "port": port, "no_open": no_open}
    context.default_map = _for_commands(context.command, given)
    if version:
        typer.echo(f"pet {__version__}")
    elif context.invoked_subcommand is None:
        serve(config, data_dir, host, port, no_open)


def _for_commands(command: Any, given: dict[str, Any]) -> dict[str, Any]:
    """What was given before a command's name, as the defaults of every command below ``command``."""
    below: dict[str, Any] = getattr(command, "commands", {})
    if not below:
        return {name: value for name, value in given.items() if value is not None}
    return {name: _for_commands(each, given) for name, each in below.items()}


@app.command()
def serve(
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    host: HostOption = None,
    port: PortOption = None,
    no_open: NoOpenOption = False,
) -> None:
    """Run the companion and open its page."""
    from server.cli.serve import run

    run(config, data_dir, host=host, port=port, open_page=not no_open)


@app.command()
def say(
    text: Annotated[str, typer.Argument(help="What you say to the companion.")],
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Say something and read the answer here, as it streams."""
    from server.cli.say import run

    run(config, data_dir, text)


@app.command()
def doctor(
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check the configuration, each provider, each role's model and the data folder."""
    from server.cli.doctor import run

    run(config, data_dir, as_json=as_json)


@app.command()
def models(config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """List what each provider offers, asking all at the same time."""
    from server.cli.models import run

    run(config, data_dir)


@app.command()
def explain(
    text: Annotated[str | None, typer.Argument(help="A message.", show_default=False)] = None,
    stdin: Annotated[
        bool,
        typer.Option(
            "--stdin", help="Read one JSON object a line: text, and optionally history, context, state."
        ),
    ] = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Show how a message would be answered, and why. Needs no server and no model."""
    from server.cli.explain import run

    run(config, text, from_stdin=stdin)


@app.command()
def token(config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Print the token with which scripts and editors may connect."""
    from server.cli.token import run

    run(config, data_dir)
