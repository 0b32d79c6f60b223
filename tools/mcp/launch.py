"""What exactly is started for a server: program, arguments, folder and environment."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from server.config.schema import McpServer
from server.masking import is_secret_name
from tools.mcp.reason import Down, Reason

OUR_PYTHON: Final = "python"
SHIPPED: Final = "mcp_servers."
_ROOT: Final = Path(__file__).resolve().parents[2]

INHERITED: Final = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP"}
    | {"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"}
    # Windows: without most of these, programs don't even start.
    | {"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS", "PROCESSOR_ARCHITECTURE"}
    | {"NUMBER_OF_PROCESSORS", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES"}
    | {"PROGRAMFILES(X86)", "USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH"}
)
"""All of our environment that a server gets, with the variables of the locale (``LC_…``)."""


@dataclass(frozen=True, slots=True)
class Launch:
    """``secrets`` are values that its output must not show."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    cwd: Path
    secrets: tuple[str, ...] = field(repr=False, default=())


def plan_launch(settings: McpServer, config_dir: Path, environ: Mapping[str, str]) -> Launch:
    """How to start it. ``command`` is looked up by the platform's rules (``npx`` is ``npx.cmd`` on Windows).

    Raises:
        Down: the program, the folder or a variable that it needs isn't there.
    """
    added = _resolved(settings.env, environ)
    env = environment(environ) | added
    cwd = config_dir / Path(settings.cwd or ".").expanduser()
    if _is_shipped(settings):
        cwd = _ROOT  # so that `-m` finds it, installed or not
    if not cwd.is_dir():
        raise Down(Reason("mcp.no_folder"))
    program = _program(settings.command or "", cwd, env)
    secrets = tuple(value for name, value in added.items() if is_secret_name(name))
    return Launch((program, *settings.args), env, cwd, secrets)


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What of ``environ`` a server may see: enough to run, no key."""
    return {
        name: value for name, value in environ.items() if name.upper() in INHERITED or name.startswith("LC_")
    }


def _resolved(added: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """The configured variables; ``env:NAME`` is taken from our own environment, as an ``api_key`` is."""
    resolved = {}
    for name, value in added.items():
        source = value.removeprefix("env:")
        if source == value:
            resolved[name] = value
        elif source in environ:
            resolved[name] = environ[source]
        else:
            raise Down(Reason("mcp.no_variable", {"name": name, "source": source[:64]}))
    return resolved


def _is_shipped(settings: McpServer) -> bool:
    module = settings.args[1] if settings.args[:1] == ("-m",) and len(settings.args) > 1 else ""
    return settings.command == OUR_PYTHON and module.startswith(SHIPPED)


def _program(command: str, cwd: Path, env: Mapping[str, str]) -> str:
    if command == OUR_PYTHON:
        return sys.executable
    expanded = Path(command).expanduser()
    wanted = str(cwd / expanded) if len(expanded.parts) > 1 else command
    found = shutil.which(wanted, path=env.get("PATH"))
    if found is None:
        raise Down(Reason("mcp.not_found", {"command": Path(command).name[:64]}))
    return found
