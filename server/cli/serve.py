"""``pet serve``: run until told to stop."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path

import typer

from server.app import App, Listening
from server.cli.output import hush
from server.cli.place import FAILED, find, readable_errors, say_error, terminal_locale
from server.cli.signals import ignore, stop_by
from server.config.locate import Location
from server.gateway.runfile import RunFile
from server.gateway.token import TokenFile
from server.log import set_up_logging
from server.messages import render


def run(
    config: Path | None, data_dir: Path | None, *, host: str | None, port: int | None, open_page: bool
) -> None:
    """Serves until a signal asks to stop; then exits with 0."""
    location = find(config, data_dir)
    set_up_logging(location.data_dir)
    with readable_errors():
        app = App(location, Listening(host, port))
        _refuse_a_second_one(location)
        try:
            asyncio.run(_serve(app, open_page))
        except OSError as error:
            say_error(_why_not_listening(app, error))
            raise typer.Exit(FAILED) from None
        finally:
            ignore()


async def _serve(app: App, open_page: bool) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    stop_by(lambda: _wake(loop, stop))
    async with app:
        _announce(app.url)
        if open_page:
            page = app.page_url()
            await asyncio.to_thread(webbrowser.open, page)
        await stop.wait()


def _wake(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the loop has ended: everything has stopped already
        loop.call_soon_threadsafe(stop.set)


def _announce(url: str) -> None:
    try:
        print(f"pet is listening on {url}", flush=True)
    except OSError:
        hush(sys.stdout)


def _refuse_a_second_one(location: Location) -> None:
    running = RunFile(location.data_dir).read()
    if running is None or running.pid == os.getpid() or not running.answers(_token(location)):
        return
    language = terminal_locale()
    say_error(render("cli.already_running", language, url=running.url))
    say_error(render("cli.already_running_hint", language))
    raise typer.Exit(FAILED)


def _token(location: Location) -> str | None:
    try:
        return TokenFile(location.data_dir).read()
    except OSError:
        return None


def _why_not_listening(app: App, error: OSError) -> str:
    language = terminal_locale()
    if error.errno in (errno.EADDRINUSE, getattr(errno, "WSAEADDRINUSE", errno.EADDRINUSE)):
        return render("cli.port_in_use", language, port=app.port)
    reason = error.strerror or type(error).__name__
    return render("cli.cannot_listen", language, host=app.host, port=app.port, reason=reason)
