"""Keys that were entered in the page: ``keys.toml`` in the data folder, readable by its user alone.

A key is bound to the address that it was entered for and is given out for no other.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from server.config.edit import key_text, value_text
from server.config.files import Write, private_folder, set_aside, write_all
from server.config.schema import Provider
from server.config.values import ENV_PREFIX, STORED
from server.errors import PetError

FILE_NAME: Final = "keys.toml"
_HEADER: Final = (
    "# Keys entered in the page. Each one goes to its own address only; delete a table to forget a key.\n"
)
_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class StoredKey:
    address: str
    key: str


class Unreadable(Exception):
    """A file of the data folder that can't be read; it must not be overwritten."""


def address_of(base_url: str) -> str:
    """What a key is bound to: scheme, host, port and path, however the address is written."""
    try:
        parts = urlsplit(base_url.strip())
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return base_url
    path = parts.path.rstrip("/").removesuffix("/v1").rstrip("/")
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme.lower()}://{(parts.hostname or '').lower()}:{port}{path}{query}"


class KeyStore:
    """The file is read anew each time, so that a key removed by hand is gone at once."""

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / FILE_NAME

    def get(self, provider: str, base_url: str) -> str | None:
        """The key that was entered for ``provider`` at this very address.

        Raises:
            PetError: provider_auth, when the file can't be read.
        """
        try:
            stored = self.read().get(provider)
        except Unreadable:
            raise PetError("provider_auth", "config.keys_unreadable", provider=provider) from None
        if stored is None or stored.address != address_of(base_url):
            return None
        return stored.key

    def set(self, provider: str, base_url: str, key: str) -> None:
        """Keeps ``key`` for ``provider`` at ``base_url``; one that is there already is replaced.

        Raises:
            OSError: it can't be written; nothing was changed.
        """
        self._write(self.with_changes({provider: StoredKey(address_of(base_url), key)}))

    def drop(self, provider: str) -> None:
        """Forgets ``provider``'s key, if there is one.

        Raises:
            OSError: the file can't be written; nothing was changed.
        """
        self._write(self.with_changes({provider: None}))

    def with_changes(self, changes: Mapping[str, StoredKey | None]) -> Write | None:
        """The file as it will be; None = drop. None where nothing changes. A file that can't be read counts
        as empty; :meth:`keep_unreadable` must save it first."""
        try:
            old = self.read()
        except Unreadable:
            old = {}
        new = {name: stored for name, stored in old.items() if name not in changes}
        new |= {name: stored for name, stored in changes.items() if stored is not None}
        if new == old:
            return None
        text = _HEADER + "".join(_table(name, stored) for name, stored in sorted(new.items()))
        return Write(self.path, text.encode(), private=True)

    def keep_unreadable(self) -> Path | None:
        """Moves a file that can't be read out of the way; where to, or None when all is well.

        Raises:
            OSError: it can't be moved.
        """
        try:
            self.read()
        except Unreadable:
            return set_aside(self.path)
        return None

    def read(self) -> dict[str, StoredKey]:
        """All keys by provider.

        Raises:
            Unreadable: the file is there, but isn't what this class wrote.
        """
        try:
            tables = tomllib.loads(self.path.read_bytes().decode("utf-8-sig"))
            return {
                name: StoredKey(_text(table["address"]), _text(table["key"]))
                for name, table in tables.items()
            }
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise Unreadable(self.path.name) from error

    def _write(self, write: Write | None) -> None:
        if write is not None:
            private_folder(self.path.parent)
            self.keep_unreadable()
            write_all([write])


def resolve_key(name: str, provider: Provider, keys: KeyStore, environ: Mapping[str, str]) -> str | None:
    """The key to send to ``provider``, or None where it needs none.

    Raises:
        PetError: provider_auth: the environment variable isn't set, or no key was entered for this address.
    """
    if provider.api_key.startswith(ENV_PREFIX):
        variable = provider.api_key.removeprefix(ENV_PREFIX)
        key = environ.get(variable, "").strip()
        if not key:
            raise PetError("provider_auth", "config.env_missing", provider=name, variable=variable)
        return key
    if provider.api_key == STORED:
        stored = keys.get(name, provider.base_url)
        if stored is None:
            raise PetError("provider_auth", "config.key_not_stored", provider=name)
        return stored
    return provider.api_key or None


def _table(name: str, stored: StoredKey) -> str:
    return f"\n[{key_text([name])}]\naddress = {value_text(stored.address)}\nkey = {value_text(stored.key)}\n"


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
