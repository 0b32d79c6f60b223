"""The ``pet`` command."""

from __future__ import annotations

from server.cli import signals


def main() -> None:
    """The entry point of ``pet``."""
    signals.leave_quietly()  # before what takes time to import
    from server.cli.commands import app
    from server.cli.output import guarded

    with guarded():
        app()
