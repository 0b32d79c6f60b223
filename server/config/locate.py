"""Which lab.toml and which data folder: never what merely lies in the current folder."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from server.config.files import private_folder, write_atomically

FILE_NAME: Final = "lab.toml"
APP_NAME: Final = "pet_mode"
_PROJECT_NAME = re.compile(r"""^\s*name\s*=\s*["']pet[-_.]mode["']""", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Location:
    """What one companion lives from.

    ``shown`` is how messages call the file: its name, never its folder, for they may reach a page.
    ``owned`` is whether the program itself chose the file, and so may make it.
    """

    config: Path
    data_dir: Path
    shown: str
    owned: bool


def locate(
    config: str | Path | None = None,
    data_dir: str | Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
) -> Location:
    """Finds both; creates nothing. The arguments are the options ``--config`` and ``--data-dir``."""
    environ = os.environ if environ is None else environ
    data = data_dir or environ.get("PET_DATA_DIR")
    data_path = Path(data).expanduser().absolute() if data else _user_data_dir()
    given = config or environ.get("PET_CONFIG")
    if given:
        path = Path(given).expanduser().absolute()
        return Location(path, data_path, path.name or FILE_NAME, owned=False)
    own = checkout_config()
    if own is not None:
        return Location(own, data_path, FILE_NAME, owned=False)
    return Location(_user_config_dir() / FILE_NAME, data_path, FILE_NAME, owned=True)


def prepare(location: Location) -> None:
    """Makes what may be missing at the first start: the data folder, and the user's lab.toml (a copy of
    the one that ships).

    Raises:
        OSError: a folder or the file can't be made.
    """
    private_folder(location.data_dir)
    if location.owned and not location.config.exists():
        location.config.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(location.config, shipped_config())


def checkout_config() -> Path | None:
    """The lab.toml of the checkout that this very program runs from, if it does."""
    root = Path(__file__).resolve().parent.parent.parent
    try:
        if _PROJECT_NAME.search((root / "pyproject.toml").read_text(encoding="utf-8")):
            own = root / FILE_NAME
            return own if own.is_file() else None
    except (OSError, UnicodeDecodeError):
        pass
    return None


def shipped_config() -> bytes:
    """The file that ships: inside the package when installed, at its root in a checkout."""
    packaged = files("server.config").joinpath(FILE_NAME)
    if packaged.is_file():
        return packaged.read_bytes()
    return (Path(__file__).resolve().parent.parent.parent / FILE_NAME).read_bytes()


def _user_config_dir() -> Path:
    from platformdirs import user_config_path

    return user_config_path(APP_NAME, appauthor=False, roaming=True)


def _user_data_dir() -> Path:
    from platformdirs import user_data_path

    return user_data_path(APP_NAME, appauthor=False)
