"""Which model fills a role, from the configuration and what the providers answered. No I/O.

A provider that the owner named is used or its failure is told; it is never replaced. Only where the choice
was left open is one made: what runs on this machine, never a hosted provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from server.config.schema import Config
from server.errors import PetError
from server.models.events import Connection
from server.models.failure import Asked, unknown_model
from server.models.listing import Survey
from server.models.provider import Flavour, Provider, guide_of, known_by_port, server_of
from server.protocol import Guide, Role

_RANK: dict[Flavour | Guide | None, int] = {"ollama": 0, "lmstudio": 1}
_LAST = 2


@dataclass(frozen=True, slots=True)
class Offer:
    """What one provider offers.

    Attributes:
        provider: None where not even its connection data is complete (a missing key).
        found: its survey, or why there is none.
        demo: it runs the demo model.
    """

    provider: Provider | None
    found: Survey | PetError
    demo: bool = False

    @property
    def flavour(self) -> Flavour | None:
        return self.found.flavour if isinstance(self.found, Survey) else None

    @property
    def guide(self) -> Guide:
        return "cloud" if self.provider is None else guide_of(self.provider, self.flavour)

    @property
    def server(self) -> Guide | None:
        """What serves it, where that is known: a guide may be a mere suggestion."""
        return None if self.provider is None else server_of(self.provider, self.flavour)


@dataclass(frozen=True, slots=True)
class Pick:
    provider: str
    model: str
    demo: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """``pick`` is what a request would go to; the connection may be bad all the same."""

    connection: Connection
    pick: Pick | None

    @property
    def settled(self) -> bool:
        """Whether the companion talks to a real model, so that there is nothing to look out for."""
        return self.connection.state == "ready" and self.pick is not None and not self.pick.demo


def choose_chat(config: Config, offers: Mapping[str, Offer]) -> Choice:
    wanted = config.agent.models.chat
    if wanted.provider:
        return choose_from(wanted.provider, wanted.model, offers[wanted.provider])
    return _choose_open(wanted.model, offers)


def choose_other(config: Config, role: Role, chat: Choice, offers: Mapping[str, Offer]) -> Choice:
    """The tool role, which falls back to the chat role's model, or the vision role, which doesn't."""
    wanted = config.agent.models.role(role)
    if wanted.provider:
        return choose_from(wanted.provider, wanted.model, offers[wanted.provider])
    if role == "vision" and not (wanted.model and config.agent.enable_vision):
        error = PetError("needs_model", "models.vision_unset", hint="models.choose_vision")
        return Choice(Connection("model-selection", error=error), None)
    if wanted.model and chat.pick is not None:
        return Choice(chat.connection, Pick(chat.pick.provider, wanted.model))
    return chat


def choose_from(name: str, model: str, offer: Offer) -> Choice:
    """The provider that the owner named, with the model named or its first chat model."""
    found = offer.found
    if isinstance(found, PetError):
        asked_all_the_same = offer.provider is not None and not offer.provider.builtin and model
        return Choice(_failed(offer, found), Pick(name, model) if asked_all_the_same else None)
    if not model:
        first = next(iter(found.chat_models()), None)
        if first is None:
            return Choice(_without_model(name, offer), None)
        model = first.id
    elif found.flavour == "ollama" and found.models and found.model(model) is None and offer.provider:
        error = unknown_model(Asked(offer.provider, model, found.flavour))
        return Choice(Connection("model-selection", guide=offer.guide, error=error), Pick(name, model))
    return _ready(Pick(name, model, offer.demo))


def _choose_open(wanted: str, offers: Mapping[str, Offer]) -> Choice:
    without_model: Choice | None = None
    for name, offer in sorted(offers.items(), key=lambda item: _rank(item[1])):
        if offer.provider is None or offer.provider.builtin or not offer.provider.local:
            continue
        if isinstance(offer.found, Survey):
            named = offer.found.model(wanted) if wanted else None
            model = named or next(iter(offer.found.chat_models()), None)
            if model is not None:
                return _ready(Pick(name, model.id))
            without_model = without_model or Choice(_without_model(name, offer), None)
    own = {
        name: offer for name, offer in offers.items() if offer.provider is not None and offer.provider.builtin
    }
    for name, offer in own.items():
        if not offer.demo and isinstance(offer.found, Survey):
            return choose_from(name, "", offer)
    if without_model is not None:
        return without_model
    broken = next((_failed(offer, error) for offer in own.values() if (error := _broken_file(offer))), None)
    if broken is not None:
        return Choice(broken, None)
    for name, offer in own.items():
        if isinstance(offer.found, Survey):
            return choose_from(name, "", offer)
    error = PetError("needs_model", "models.nothing_connected", hint="models.connect_one")
    return Choice(Connection("needs-local-model", guide="ollama", error=error), None)


def _ready(pick: Pick) -> Choice:
    return Choice(Connection("ready", detail="demo" if pick.demo else None), pick)


def _failed(offer: Offer, error: PetError) -> Connection:
    local = offer.provider is not None and offer.provider.local
    waits = local and error.code in ("provider_unreachable", "needs_model")
    return Connection("needs-local-model" if waits else "error", guide=offer.guide, error=error)


def _without_model(name: str, offer: Offer) -> Connection:
    hints: dict[Guide | None, str] = {
        "ollama": "models.get_model_ollama",
        "lmstudio": "models.get_model_lmstudio",
    }
    error = PetError(
        "needs_model",
        "models.no_chat_model",
        hint=hints.get(offer.server, "models.choose_model"),
        provider=name,
    )
    return Connection("model-selection", guide=offer.guide, error=error)


def _broken_file(offer: Offer) -> PetError | None:
    """A file of the owner's own that can't be run; a missing engine is no fault of the file."""
    error = offer.found
    return error if isinstance(error, PetError) and error.code == "provider_error" else None


def _rank(offer: Offer) -> int:
    if offer.provider is None:
        return _LAST
    return _RANK.get(offer.flavour or known_by_port(offer.provider), _LAST)
