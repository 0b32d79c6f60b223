"""A provider as the rest of this package sees it: connection data with a key, and what kind it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from server.models.address import is_loopback, may_be_local_server, port_of
from server.protocol import Guide

Flavour = Literal["ollama", "lmstudio", "llamacpp"]
"""A local server, known by the API of its own that answers beside ``/v1``."""

_PORTS: dict[int, Guide] = {11434: "ollama", 1234: "lmstudio"}


@dataclass(frozen=True, slots=True)
class Provider:
    """Attributes:
    name: its name in lab.toml.
    base_url: normalised; "" for a model file that the companion runs itself.
    key: the API key, None where none is set.
    gguf: the model file's path for such a provider ("" = the demo model), else None.
    """

    name: str
    base_url: str
    key: str | None = field(default=None, repr=False)
    gguf: str | None = None

    @property
    def builtin(self) -> bool:
        return self.gguf is not None

    @property
    def local(self) -> bool:
        return self.builtin or is_loopback(self.base_url)


def guide_of(provider: Provider, flavour: Flavour | None = None) -> Guide:
    """Which guide helps a user to get ``provider`` going, or to get a model at all."""
    return server_of(provider, flavour) or ("ollama" if provider.local else "cloud")


def server_of(provider: Provider, flavour: Flavour | None = None) -> Guide | None:
    """What serves ``provider``: by what it was seen to be, else by its address; None for any other server."""
    if provider.builtin:
        return "builtin"
    if flavour == "ollama" or flavour == "lmstudio":
        return flavour
    return known_by_port(provider) if flavour is None else None


def known_by_port(provider: Provider) -> Guide | None:
    """Which local server uses to listen at the provider's address."""
    if provider.builtin or not may_be_local_server(provider.base_url):
        return None
    return _PORTS.get(port_of(provider.base_url))
