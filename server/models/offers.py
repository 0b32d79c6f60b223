"""Collects what the providers offer that the roles may need: all of them at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from server.config.schema import Config
from server.errors import PetError
from server.models import probe
from server.models.address import is_loopback
from server.models.choice import Choice, Offer
from server.models.connections import Connections
from server.models.events import Connection
from server.models.listing import ListedModel, Survey
from server.models.provider import Provider
from server.protocol import Role

ROLES: tuple[Role, ...] = ("chat", "tool", "vision")


async def collect_offers(config: Config, connections: Connections) -> dict[str, Offer]:
    """The offers of all providers that a role names, and, where the chat role is open, of those on this
    machine; in the order of lab.toml. Nothing is started for it, and no hosted provider is asked unnamed."""
    names = _concerned(config)
    offers = await asyncio.gather(*(_offer(name, _wanted(config, name), connections) for name in names))
    return dict(zip(names, offers, strict=True))


async def run_builtin(chat: Choice, offers: Mapping[str, Offer], connections: Connections) -> Choice:
    """Starts the child where the chat model is its, so that the first message needn't wait for it."""
    offer = offers[chat.pick.provider] if chat.pick else None
    if offer is None or offer.provider is None or not offer.provider.builtin:
        return chat
    try:
        await connections.client(offer.provider)
    except PetError as error:
        return Choice(Connection("error", guide="builtin", error=error), None)
    return chat


async def describe_builtin(provider: Provider, model: str, connections: Connections) -> ListedModel:
    """What the running child says about its one model, under the name ``model``."""
    found = await probe.survey(await connections.client(provider))
    told = next(iter(found.models or ()), ListedModel(model))
    return replace(told, id=model)


async def _offer(name: str, wanted: str, connections: Connections) -> Offer:
    provider: Provider | None = None
    try:
        provider = connections.provider(name)
        if provider.builtin:
            file = await asyncio.to_thread(connections.file_of, provider)
            return Offer(provider, Survey((ListedModel(file.model, chat=True),)), file.demo)
        return Offer(provider, await probe.look(await connections.client(provider), wanted))
    except PetError as error:
        return Offer(provider, error)


def _concerned(config: Config) -> list[str]:
    named = {config.agent.models.role(role).provider for role in ROLES} - {""}
    if not config.agent.models.chat.provider:
        for name, table in config.llm.providers.items():
            if table.gguf is not None or _is_local(table.base_url):
                named.add(name)
    known = [name for name in config.llm.providers if name in named]
    return known + sorted(named.difference(known))


def _is_local(base_url: str) -> bool:
    try:
        return is_loopback(base_url)
    except ValueError:
        return False


def _wanted(config: Config, provider: str) -> str:
    """The model that a role wants of ``provider``, the chat role's first."""
    choices = [config.agent.models.role(role) for role in ROLES]
    return next((choice.model for choice in choices if choice.provider == provider and choice.model), "")
