"""What was learned about each model of each provider, remembered in the data folder.

A profile is filled in by probing and by what a provider refuses. ``capabilities.json`` is only a memory of
what can be learned again: where it can't be read it is set aside, where it can't be written nothing is lost
but time.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from server.protocol import Capabilities

log = logging.getLogger(__name__)

Option = Literal[
    "stream_options",
    "temperature",
    "system",
    "late_system",
    "tool_choice",
    "response_format",
    "schema_keywords",
]
"""What a request may go without: parameters, the system role, system messages after the first, and all
but the plainest words of JSON schema."""

_OPTIONS: Final[frozenset[str]] = frozenset(get_args(Option))
_VERSION = 1
_FORGET_AFTER_S = 30 * 86_400
_MAX_PROFILES = 500


@dataclass(slots=True)
class Profile:
    """One model of one provider; None = not known yet.

    Attributes:
        refused: what this model's provider doesn't take.
        context_tokens: the context that the server really uses.
    """

    vision: bool | None = None
    tools: bool | None = None
    json_schema: bool | None = None
    streaming_usage: bool | None = None
    reasoning_field: str | None = None
    context_tokens: int | None = None
    refused: list[Option] = field(default_factory=list)
    learned_at: float = 0.0

    def capabilities(self, *, vision: bool | None = None) -> Capabilities:
        """As the protocol shows it; ``vision`` is the owner's own word and beats what was probed."""
        return Capabilities(
            streaming_usage=False if "stream_options" in self.refused else self.streaming_usage,
            system_role=False if "system" in self.refused else None,
            vision=self.vision if vision is None else vision,
            tools=self.tools,
            reasoning_field=self.reasoning_field,
            json_schema=self.json_schema,
        )


class Profiles:
    """All profiles, by address and model.

    Args:
        data_dir: the folder of ``capabilities.json``.
        clock: seconds since the epoch.
    """

    def __init__(self, data_dir: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = data_dir / "capabilities.json"
        self._clock = clock
        self._profiles: dict[tuple[str, str], Profile] | None = None

    def get(self, address: str, model: str) -> Profile:
        """A copy of what is known; an empty profile where nothing is."""
        known = self._all().get((address, model))
        return replace(known, refused=list(known.refused)) if known else Profile()

    def refuse(self, address: str, model: str, option: Option) -> None:
        """Remembers that ``option`` was refused."""
        profile = self._all().setdefault((address, model), Profile())
        if option not in profile.refused:
            profile.refused.append(option)
            self._save(profile)

    def learn(self, address: str, model: str, **facts: bool | int | str | None) -> None:
        """Remembers what is new among ``facts`` (names of :class:`Profile`'s fields); None tells nothing."""
        profile = self._all().setdefault((address, model), Profile())
        new = {name: value for name, value in facts.items() if value is not None}
        if any(getattr(profile, name) != value for name, value in new.items()):
            for name, value in new.items():
                setattr(profile, name, value)
            self._save(profile)

    def _all(self) -> dict[tuple[str, str], Profile]:
        if self._profiles is None:
            self._profiles = self._load()
        return self._profiles

    def _load(self) -> dict[tuple[str, str], Profile]:
        try:
            raw = self._path.read_bytes()
        except OSError:
            return {}
        try:
            entries = json.loads(raw)["profiles"]
            loaded = {(entry["address"], entry["model"]): _profile(entry["profile"]) for entry in entries}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            log.warning("capabilities.json can't be read and is set aside")
            with contextlib.suppress(OSError):
                self._path.replace(self._path.with_suffix(".json.broken"))
            return {}
        oldest = self._clock() - _FORGET_AFTER_S
        return {key: profile for key, profile in loaded.items() if profile.learned_at >= oldest}

    def _save(self, changed: Profile) -> None:
        changed.learned_at = self._clock()
        profiles = self._all()
        while len(profiles) > _MAX_PROFILES:
            del profiles[min(profiles, key=lambda key: profiles[key].learned_at)]
        entries = [
            {"address": address, "model": model, "profile": asdict(profile)}
            for (address, model), profile in profiles.items()
        ]
        text = json.dumps({"version": _VERSION, "profiles": entries}, ensure_ascii=False, indent=1)
        temporary = self._path.with_name(f"{self._path.name}.{os.getpid()}.tmp")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(self._path)
        except OSError as error:
            log.warning("capabilities.json can't be written: %s", error.strerror)
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


class Memory:
    """What is known about one model of one provider."""

    def __init__(self, profiles: Profiles, address: str, model: str) -> None:
        self._profiles = profiles
        self._address = address
        self._model = model

    @property
    def profile(self) -> Profile:
        return self._profiles.get(self._address, self._model)

    def refuse(self, option: Option) -> None:
        self._profiles.refuse(self._address, self._model, option)

    def learn(self, **facts: bool | int | str | None) -> None:
        self._profiles.learn(self._address, self._model, **facts)


def _profile(data: dict[str, Any]) -> Profile:
    def flag(name: str) -> bool | None:
        value = data.get(name)
        return value if isinstance(value, bool) else None

    context, reasoning = data.get("context_tokens"), data.get("reasoning_field")
    return Profile(
        vision=flag("vision"),
        tools=flag("tools"),
        json_schema=flag("json_schema"),
        streaming_usage=flag("streaming_usage"),
        reasoning_field=reasoning if isinstance(reasoning, str) else None,
        context_tokens=context if isinstance(context, int) and context > 0 else None,
        refused=[option for option in data.get("refused", []) if option in _OPTIONS],
        learned_at=float(data.get("learned_at", 0.0)),
    )
