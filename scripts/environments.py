"""The environment variables of set-up and of the program: the caller's, without what would mislead them."""

from __future__ import annotations

import ast
import contextlib
import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

# The caller's UV_ variables are about other projects, but for those that say how a package index is reached.
# fmt: off
UV_KEPT = (
    "UV_INDEX", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX", "UV_FIND_LINKS", "UV_CONFIG_FILE", "UV_CACHE",
    "UV_NO_CACHE", "UV_HTTP", "UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "UV_INSECURE_HOST", "UV_KEYRING",
    "UV_OFFLINE", "UV_LINK_MODE", "UV_CONCURRENT",
)
# These would lead Python, pip or uv to another environment than .venv.
MISLEADING_PYTHON = ("PYTHONHOME", "PYTHONPATH", "__PYVENV_LAUNCHER__")
MISLEADING_SETUP = (
    "VIRTUAL_ENV", "CONDA_PREFIX", "PIP_PYTHON", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_DRY_RUN",
    "PIP_NO_DEPS", "PIP_NO_BINARY", "PIP_CONSTRAINT", "PIP_REQUIREMENT", "PIP_REQUIRE_HASHES",
)
# fmt: on
# What the user told pip about reaching packages holds for uv too.
PIP_TO_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}


def running(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """For the program: the caller's, but for what would make Python import another project."""
    return cleared(environment, MISLEADING_PYTHON)


def setting_up(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The caller's environment without what would lead set-up to another place than .venv."""
    kept = cleared(environment, (*MISLEADING_PYTHON, *MISLEADING_SETUP))
    kept = {
        name: value for name, value in kept.items() if not name.startswith("UV_") or name.startswith(UV_KEPT)
    }
    kept["PIP_USER"] = "0"
    kept["UV_PYTHON_DOWNLOADS"] = "never"
    kept["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    return kept


def with_settings_of_pip(environment: dict[str, str], python: Path) -> dict[str, str]:
    """Where the user told pip how packages are reached and uv nothing, the same holds for uv."""
    told = any(path.is_file() for path in uv_configurations(environment)) or "UV_CONFIG_FILE" in environment
    if told:
        return environment
    command = [str(python), "-m", "pip", "config", "list"]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    return pip_settings(done.stdout.decode("utf-8", "replace")) | environment


def uv_configurations(environment: Mapping[str, str]) -> list[Path]:
    """Where the user's own configuration of uv may lie; what it says comes before what pip was told."""
    if os.name == "nt":
        homes = [environment.get("APPDATA"), environment.get("PROGRAMDATA")]
    else:
        homes = [environment.get("XDG_CONFIG_HOME") or str(Path.home() / ".config"), "/etc"]
    return [Path(home) / "uv" / "uv.toml" for home in homes if home]


def pip_settings(listing: str) -> dict[str, str]:
    """What `pip config list` says about reaching packages, as uv's environment variables."""
    found: dict[str, str] = {}
    for section in ("global.", "install.", ":env:."):  # the later beats the earlier, as with pip
        for line in listing.splitlines():
            name, _, value = line.partition("=")
            variable = PIP_TO_UV.get(name[len(section) :]) if name.startswith(section) else None
            if variable:
                with contextlib.suppress(ValueError, SyntaxError):
                    found[variable] = " ".join(str(ast.literal_eval(value)).split())
    return found


def cleared(environment: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    gone = {name.upper() for name in names}
    return {name: value for name, value in environment.items() if name.upper() not in gone}
