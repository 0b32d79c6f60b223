"""What ``pet config`` does with the file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from server.cli.place import FAILED, INVALID_CONFIG, find, readable_errors, say_error, terminal_locale
from server.config.check import check
from server.config.edit import Change, EditError, KeyPath, changed_data, changed_text, flatten
from server.config.files import write_atomically
from server.config.load import decode, encode_like, load, missing_prompts, parse, place, read
from server.config.locate import locate
from server.config.migrate import migrate_file
from server.config.problems import ConfigError, Finding, Problem, dotted, unwritable
from server.messages import render


def check_file(config: Path | None, data_dir: Path | None) -> None:
    location = find(config, data_dir)
    with _told():
        load(location.config, shown=location.shown)
        _say("config.valid", path=str(location.config))


def print_path(config: Path | None, data_dir: Path | None) -> None:
    typer.echo(locate(config, data_dir).config)


def migrate_to_new_form(config: Path | None, data_dir: Path | None) -> None:
    location = find(config, data_dir)
    with _told():
        done = migrate_file(location.config, location.shown)
        if done is None:
            load(location.config, shown=location.shown)
            _say("config.already_new", file=location.shown)
            return
        migrated, backup = done
        _say("config.migrated", file=location.shown, backup=backup.name)
        for role, (provider, model) in migrated.roles.items():
            typer.echo(f"  agent.models.{role}: {provider} {model}".rstrip())
        load(location.config, shown=location.shown)


def set_in_file(config: Path | None, data_dir: Path | None, key: str, value: str) -> None:
    location = find(config, data_dir)
    with _told():
        raw = read(location.config, location.shown)
        text = decode(raw, location.shown)
        data = parse(text, location.shown)
        path = _key_path(key, location.shown)
        changes = flatten(path, _parsed(value))
        findings = _findings(data, changes, location.config)
        if any(item.path == path and item.kind in ("not_text", "not_one_of") for item in findings):
            changes = [(path, value)]
            findings = _findings(data, changes, location.config)
        if findings:
            raise ConfigError(place(findings, text, location.shown))
        write_atomically(location.config, encode_like(raw, changed_text(text, changes)))
        _say("config.changed", setting=dotted(path), file=location.shown)


def _findings(data: dict[str, Any], changes: list[Change], config: Path) -> list[Finding]:
    changed = changed_data(data, changes)
    return [*check(changed)[1], *missing_prompts(changed, config)]


def _parsed(value: str) -> Any:
    """A TOML value; what is none is text, so that nobody fights with two kinds of quotes."""
    try:
        parsed = tomllib.loads(f"value = {value}")
    except (ValueError, RecursionError):
        return value
    return parsed["value"] if len(parsed) == 1 else value


def _key_path(key: str, shown: str) -> KeyPath:
    """A dotted key as TOML reads it, quoted parts included."""
    try:
        node: Any = tomllib.loads(f"{key} = 0")
        path: list[str] = []
        while isinstance(node, dict) and len(node) == 1:
            ((part, node),) = node.items()
            path.append(part)
        if node == 0 and path:
            return tuple(path)
    except (ValueError, RecursionError):
        pass
    raise ConfigError([Problem(shown, None, key[:200], "bad_key", "bad_key_fix")])


@contextmanager
def _told() -> Iterator[None]:
    """What can go wrong with a file, in the terminal's language."""
    with readable_errors():
        try:
            yield
        except EditError:
            say_error(render("config.edit_by_hand", terminal_locale()))
            raise typer.Exit(INVALID_CONFIG) from None
        except OSError as error:
            say_error(unwritable(error).message(terminal_locale()))
            raise typer.Exit(FAILED) from None


def _say(text: str, **params: str) -> None:
    typer.echo(render(text, terminal_locale(), **params))
