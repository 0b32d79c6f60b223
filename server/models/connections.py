"""The open connections: one client a provider, one child a model file. Made at first use, replaced when what
they were made from changes, closed together."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from server.config.keys import KeyStore, resolve_key
from server.config.schema import Config
from server.errors import PetError
from server.models.address import normalise_base_url
from server.models.builtin.files import ModelFile, find_model
from server.models.builtin.launcher import Launcher
from server.models.client import Client
from server.models.provider import Provider


class Connections:
    """Args:
    config: gives the configuration that holds now.
    keys: the keys that were entered in the page.
    config_dir: what a relative ``gguf`` is relative to.
    """

    def __init__(self, config: Callable[[], Config], keys: KeyStore, config_dir: Path) -> None:
        self._config = config
        self._keys = keys
        self._config_dir = config_dir
        self._clients: dict[str, Client] = {}
        self._launchers: dict[str, Launcher] = {}
        self._ending: set[Launcher] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def provider(self, name: str) -> Provider:
        """The connection data of a provider as lab.toml says it now.

        Raises:
            PetError: ``not_found``, ``provider_auth`` (its key is missing), ``needs_model`` (no address).
        """
        table = self._config().llm.providers.get(name)
        if table is None:
            raise PetError(
                "not_found", "models.unknown_provider", hint="models.add_provider", provider=name[:64]
            )
        if table.gguf is not None:
            return Provider(name, "", gguf=table.gguf)
        try:
            base_url = normalise_base_url(table.base_url)
        except ValueError:
            raise PetError(
                "needs_model", "models.no_address", hint="models.check_connection", provider=name
            ) from None
        return Provider(name, base_url, resolve_key(name, table, self._keys, os.environ))

    def file_of(self, provider: Provider) -> ModelFile:
        """The file that a builtin provider runs; PetError where there is none that could run."""
        return find_model(provider.name, provider.gguf or "", self._config_dir)

    async def client(self, provider: Provider) -> Client:
        """A client for ``provider``; for a builtin one its child runs afterwards.

        Raises:
            PetError: the model file can't be run.
        """
        if provider.builtin:
            launcher = await self._launcher(provider)
            running = await launcher.ensure()
            provider = Provider(provider.name, running.base_url, running.api_key, provider.gguf)
        client = self._clients.get(provider.name)
        if client is None or client.provider != provider:
            if client is not None:
                self._spawn(client.retire())
            client = self._clients[provider.name] = Client(provider)
        return client

    def child_of(self, provider: Provider) -> int | None:
        """The process that runs a builtin provider's file, where one does."""
        launcher = self._launchers.get(provider.name)
        return launcher.pid if launcher is not None else None

    async def lost_child(self, provider: Provider) -> bool:
        """Whether a builtin provider's connection broke because its child died."""
        launcher = self._launchers.get(provider.name)
        return provider.builtin and launcher is not None and await launcher.died()

    def let_go(self, needed: set[str]) -> None:
        """Ends the children that no role needs any more, once their last stream has ended."""
        for name in set(self._launchers) - needed:
            self._end_soon(self._launchers.pop(name), self._clients.pop(name, None))

    async def aclose(self) -> None:
        """Closes everything at the same time; children are gone within three seconds."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(
            *self._tasks,
            *(client.aclose() for client in self._clients.values()),
            *(launcher.stop() for launcher in (*self._launchers.values(), *self._ending)),
            return_exceptions=True,
        )
        self._ending.clear()
        self._clients.clear()
        self._launchers.clear()

    async def _launcher(self, provider: Provider) -> Launcher:
        file = await asyncio.to_thread(self.file_of, provider)
        context = self._config().chat.context_tokens
        launcher = self._launchers.get(provider.name)
        if launcher is None or (launcher.file, launcher.context_tokens) != (file, context):
            if launcher is not None:
                self._end_soon(launcher, self._clients.pop(provider.name, None))
            launcher = self._launchers[provider.name] = Launcher(provider.name, file, context)
        return launcher

    def _end_soon(self, launcher: Launcher, client: Client | None) -> None:
        self._ending.add(launcher)
        self._spawn(self._end(launcher, client))

    async def _end(self, launcher: Launcher, client: Client | None) -> None:
        """Once the last stream has ended. Where closing comes first, that stops the launcher."""
        if client is not None:
            await client.retire()
        await launcher.stop()
        self._ending.discard(launcher)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
