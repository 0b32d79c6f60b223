"""``pet serve``: run until told to stop."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import webbrowser
from pathlib import Path

import typer

from server.app import App, Listening
from server.cli.place import FAILED, find, readable_errors, say_error, terminal_locale
from server.config.locate import Location
from server.gateway.runfile import RunFile
from server.log import set_up_logging
from server.messages import render


def run(
    config: Path | None, data_dir: Path | None, *, host: str | None, port: int | None, open_page: bool
) -> None:
    """Serves until SIGINT or SIGTERM; then exits with 0."""
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
        except KeyboardInterrupt:
            pass


async def _serve(app: App, open_page: bool) -> None:
    stop = asyncio.Event()
    _on_stop_signals(stop)
    async with app:
        print(f"pet is listening on {app.url}", flush=True)
        if open_page:
            page = app.page_url()
            await asyncio.to_thread(webbrowser.open, page)
        await stop.wait()


def _on_stop_signals(stop: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stop.set)
        except NotImplementedError:
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop.set))


def _refuse_a_second_one(location: Location) -> None:
    running = RunFile(location.data_dir).read()
    if running is None or running.pid == os.getpid() or not running.answers():
        return
    language = terminal_locale()
    say_error(render("cli.already_running", language, url=running.url))
    say_error(render("cli.already_running_hint", language))
    raise typer.Exit(FAILED)


def _why_not_listening(app: App, error: OSError) -> str:
    language = terminal_locale()
    if error.errno in (errno.EADDRINUSE, getattr(errno, "WSAEADDRINUSE", errno.EADDRINUSE)):
        return render("cli.port_in_use", language, port=app.port)
    reason = error.strerror or type(error).__name__
    return render("cli.cannot_listen", language, host=app.host, port=app.port, reason=reason)
