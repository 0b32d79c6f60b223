"""The configuration in use: changed by clients and by hand, never by a file that doesn't validate."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from server.config.check import check
from server.config.edit import EditError, changed_data, changed_text
from server.config.files import Write, private_folder, write_all
from server.config.keys import KeyStore
from server.config.load import (
    Loaded,
    decode,
    encode_like,
    load,
    parse,
    place,
    read,
    revision_of,
    validate,
)
from server.config.problems import ConfigError, Problem, SettingsRefused, Trouble, unwritable
from server.config.schema import Config
from server.config.settings import Plan, plan_update
from server.config.switches import Effective, Switches
from server.errors import PetError
from server.protocol import Role
from tools.threads import run_blocking

log = logging.getLogger(__name__)

POLL_S: Final = 0.4
SETTLE_S: Final = 0.05
_NEEDS_RESTART: Final = ("server.host", "server.port")

OnChange = Callable[[Config, Config], None]
OnTrouble = Callable[[Trouble], None]
OnMended = Callable[[], None]


@dataclass(frozen=True, slots=True)
class _Made:
    """What an update has written."""

    loaded: Loaded
    wrote: bool
    plan: Plan
    kept: tuple[Path, ...]


class ConfigStore:
    """Holds what lab.toml and the data folder say; one for each companion.

    Args:
        shown: how messages call the file; its name when None.

    Attributes:
        config: the last configuration that was valid.
        revision: the SHA-256 of its bytes, for optimistic updates.
        problems: what is wrong with the file as it is now; empty when all is well.
        keys, switches: what the data folder adds.

    Raises:
        ConfigError: the file doesn't validate.
    """

    def __init__(self, path: Path, data_dir: Path, *, shown: str | None = None) -> None:
        self.path = path
        self.shown = shown or path.name
        self.keys = KeyStore(data_dir)
        self.switches = Switches(data_dir)
        loaded = load(path, shown=self.shown)
        self.config = loaded.config
        self.revision = loaded.revision
        self.problems: tuple[Problem, ...] = ()
        self._data_dir = data_dir
        self._lock = asyncio.Lock()
        self._on_change: list[OnChange] = []
        self._on_trouble: list[OnTrouble] = []
        self._on_mended: list[OnMended] = []
        self._refused: str | None = None

    def effective(self) -> Effective:
        """What both switches of each capability leave on."""
        return self.switches.effective(self.config)

    def subscribe(self, callback: OnChange) -> Callable[[], None]:
        """Calls ``callback(old, new)`` on the event loop after each change: of the file, a key or a switch
        (then both are the same). Returns what ends that."""
        self._on_change.append(callback)
        return lambda: self._on_change.remove(callback)

    def on_problem(self, callback: OnTrouble) -> None:
        """Calls ``callback`` once for each content of the file that can't take effect, and for each file of
        the data folder that had to be set aside."""
        self._on_trouble.append(callback)

    def on_mended(self, callback: OnMended) -> None:
        """Calls ``callback`` when the file is valid again after it wasn't."""
        self._on_mended.append(callback)

    async def update(self, revision: str, changes: Mapping[str, Any]) -> str:
        """Makes all of a client's ``changes`` (dotted key to value, None removes it) or none.

        Returns:
            The new revision.

        Raises:
            PetError: conflict (the file isn't at ``revision`` any more), forbidden, bad_request.
        """
        return await self._change(revision, changes)

    async def select_model(
        self, role: Role, provider: str, model: str, supports_vision: bool | None = None
    ) -> str:
        """Writes a role's model into lab.toml, whatever its revision.

        Returns:
            The new revision.

        Raises:
            PetError: not_found (no such provider), bad_request, or the file can't be changed.
        """
        if provider and provider not in self.config.llm.providers:
            raise PetError("not_found", "config.provider_not_found", provider=provider[:64])
        values = {"provider": provider, "model": model, "supports_vision": supports_vision}
        return await self._change(
            None, {f"agent.models.{role}.{key}": value for key, value in values.items()}
        )

    async def watch(self, poll_s: float = POLL_S) -> None:
        """Takes over edits of the file within three times ``poll_s`` seconds, until it is cancelled.

        The file is looked at instead of being watched: that finds every way of saving (in place, by a new
        file, through a link, on a network drive) for one ``stat`` each time. A content counts when it has
        been the same twice, so that a half-written file never does.
        """
        seen: object = None
        settled = False
        while True:
            now = await asyncio.to_thread(self._signature)
            if now != seen:
                seen, settled = now, False
            elif not settled:
                settled = await self.reload()
            await asyncio.sleep(poll_s)

    async def reload(self) -> bool:
        """Reads the file again; takes it over when it is valid, tells of it when it isn't.

        Checking a file that is long and wrong takes seconds: the loop goes on meanwhile, and the program
        may end.

        Returns:
            Whether the file kept still meanwhile; otherwise somebody is writing it, and nothing was done.
        """
        async with self._lock:
            try:
                loaded = await run_blocking(self._load_settled, "reading lab.toml")
                if loaded is None:
                    return False
                if loaded.revision != self.revision:
                    self._adopt(loaded)
                self._mend()
            except ConfigError as error:
                self._refuse(error)
            return True

    async def _change(self, revision: str | None, changes: Mapping[str, Any]) -> str:
        """Shielded: what a thread has begun to write must also be taken over, whoever stops waiting."""
        return await asyncio.shield(asyncio.create_task(self._change_now(revision, changes)))

    async def _change_now(self, revision: str | None, changes: Mapping[str, Any]) -> str:
        async with self._lock:
            try:
                raw = await run_blocking(lambda: self._read_for_change(revision), "reading lab.toml")
                made = await asyncio.to_thread(self._write, raw, changes)
            except OSError as error:
                raise unwritable(error) from error
            except PetError as error:
                if error.code != "conflict":
                    raise
                conflict: PetError | None = error
            else:
                conflict = None
                self._finish(made)
        if conflict is not None:
            await self.reload()
            raise conflict
        return self.revision

    def _write(self, raw: bytes, changes: Mapping[str, Any]) -> _Made:
        """The rest of an update that touches files; runs in a thread that the program's end waits for."""
        config = self.config if revision_of(raw) == self.revision else validate(raw, self.path, self.shown)
        plan = plan_update(config, changes, self.shown)
        new_raw, config = _edited(raw, plan, config, self.shown)
        writes = [
            self.keys.with_changes(plan.keys),
            self.switches.with_levels(plan.switches) if plan.switches else None,
            Write(self.path, new_raw) if new_raw != raw else None,
        ]
        todo = [write for write in writes if write is not None]
        if any(writes[:2]):
            private_folder(self._data_dir)
        if self.path.read_bytes() != raw:
            raise PetError("conflict", "config.conflict")
        kept = [self.keys.keep_unreadable() if writes[0] else None]
        kept.append(self.switches.keep_unreadable() if writes[1] else None)
        write_all(todo)
        loaded = Loaded(config, revision_of(new_raw), self.path)
        return _Made(loaded, bool(todo), plan, tuple(path for path in kept if path))

    def _read_for_change(self, revision: str | None) -> bytes:
        """The file as an update may change it; runs in a thread."""
        try:
            raw = read(self.path, self.shown)
            if revision_of(raw) != self.revision:
                settled = self._read_settled()
                if settled is None:
                    raise PetError("conflict", "config.conflict")
                raw = settled
                validate(raw, self.path, self.shown)
            if revision in (None, revision_of(raw)):
                return raw
        except ConfigError as error:
            raise SettingsRefused("conflict", error.problems) from None
        raise PetError("conflict", "config.conflict")

    def _finish(self, made: _Made) -> None:
        if made.plan.switches:
            self.switches.take(made.plan.switches)
        if made.wrote:
            self._adopt(made.loaded)
            self._mend()
        for path in made.kept:
            log.warning("%s could not be read and was set aside", path.name)
            self._tell(Trouble("config.set_aside", {"name": path.name}))

    def _adopt(self, loaded: Loaded) -> None:
        old, self.config, self.revision = self.config, loaded.config, loaded.revision
        for callback in tuple(self._on_change):
            try:
                callback(old, loaded.config)
            except Exception:
                log.exception("a part of the program could not take over the new configuration")

    def _mend(self) -> None:
        """Nothing is wrong with the file."""
        was_broken = bool(self.problems)
        self.problems, self._refused = (), None
        for callback in tuple(self._on_mended) if was_broken else ():
            try:
                callback()
            except Exception:
                log.exception("that lab.toml is in order again could not be reported")

    def _refuse(self, error: ConfigError) -> None:
        self.problems = tuple(error.problems)
        if str(error) != self._refused:
            self._refused = str(error)
            self._tell(Trouble("config.kept_last_good", problems=tuple(error.problems)))

    def _tell(self, trouble: Trouble) -> None:
        for callback in tuple(self._on_trouble):
            try:
                callback(trouble)
            except Exception:
                log.exception("a problem of the configuration could not be reported")

    def _load_settled(self) -> Loaded | None:
        """What the file says, or None while somebody is still writing it; runs in a thread.

        Raises:
            ConfigError: it can't be read, or doesn't validate.
        """
        raw = self._read_settled()
        if raw is None:
            return None
        revision = revision_of(raw)
        if revision == self.revision:
            return Loaded(self.config, revision, self.path)
        return Loaded(validate(raw, self.path, self.shown), revision, self.path)

    def _read_settled(self) -> bytes | None:
        """The file's bytes, or None while somebody is still writing it; runs in a thread.

        Raises:
            ConfigError: it can't be read.
        """
        before = self._signature()
        time.sleep(SETTLE_S)
        raw = read(self.path, self.shown)
        return raw if self._signature() == before else None

    def _signature(self) -> tuple[int, ...] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def needs_restart(old: Config, new: Config) -> list[str]:
    """The dotted keys that changed and take effect only when the program starts again."""
    before, after = old.model_dump(), new.model_dump()
    changed = []
    for prefix in _NEEDS_RESTART:
        changed += _differing(prefix, _at(before, prefix), _at(after, prefix))
    return changed


def _edited(raw: bytes, plan: Plan, config: Config, shown: str) -> tuple[bytes, Config]:
    """The file's bytes with the plan's edits made, and what they mean.

    Raises:
        PetError: bad_request: the result would not be valid, or the text can't be changed safely.
    """
    if not plan.edits:
        return raw, config
    text = decode(raw, shown)
    try:
        data = changed_data(parse(text, shown), plan.edits)
        new_config, findings = check(data)
        if findings or new_config is None:
            raise SettingsRefused("bad_request", place(findings, text, shown))
        new_text = changed_text(text, plan.edits)
    except EditError:
        raise PetError("bad_request", "config.edit_by_hand") from None
    return encode_like(raw, new_text), new_config


def _at(data: Any, dotted: str) -> Any:
    for key in dotted.split("."):
        data = data[key]
    return data


def _differing(prefix: str, old: Any, new: Any) -> list[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        return [key for name in old for key in _differing(f"{prefix}.{name}", old[name], new.get(name))]
    return [] if old == new else [prefix]
