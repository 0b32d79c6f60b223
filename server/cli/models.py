"""``pet models``: what every provider offers."""

from __future__ import annotations

import asyncio
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from server.cli.output import printable
from server.cli.place import find, readable_errors, terminal_locale
from server.config.store import ConfigStore
from server.errors import PetError
from server.models.hub import ModelHub


def run(config: Path | None, data_dir: Path | None) -> None:
    """Asks all providers at the same time and prints each as it was answered, in the file's order."""
    location = find(config, data_dir)
    with readable_errors():
        store = ConfigStore(location.config, location.data_dir)
        asyncio.run(_list(ModelHub(store, store.keys, location.data_dir), list(store.config.llm.providers)))


async def _list(hub: ModelHub, providers: list[str]) -> None:
    console, progress = Console(), Console(stderr=True)
    try:
        with progress.status(", ".join(providers)):
            answers = await asyncio.gather(
                *(hub.list_models(provider) for provider in providers), return_exceptions=True
            )
    finally:
        await hub.aclose()
    language = terminal_locale()
    for provider, answer in zip(providers, answers, strict=True):
        if isinstance(answer, PetError):
            console.print(
                f"[bold]{escape(provider)}[/]  [red]{escape(printable(answer.message(language)))}[/]"
            )
        elif isinstance(answer, BaseException):
            raise answer
        else:
            console.print(f"[bold]{escape(provider)}[/]  [dim]{len(answer)}[/]")
            for model in answer:
                console.print(f"  {escape(printable(model))}", soft_wrap=True)
