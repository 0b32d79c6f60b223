"""What a path says by itself: its parts, and whether its name alone forbids reading it. No I/O.

Names are compared as the most tolerant file system would: without regard to case, ignorable characters, or
spaces and dots at the end.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath, PureWindowsPath
from typing import Final

MAX_PATH: Final = 4096

_SECRET_FOLDERS: Final = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".ssh",
        ".aws",
        ".azure",
        ".gnupg",
        ".kube",
        ".docker",
        ".gcloud",
        ".password-store",
    }
)
_SECRET_FILES: Final = (
    ".env*",
    "*.env",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.ppk",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.tfstate",
    "*.tfstate.*",
    "credentials*",
    ".credentials*",
    ".git-credentials",
    "client_secret*.json",
    "service-account*.json",
    "service_account*.json",
    "secret",
    "secret.*",
    "secrets",
    "secrets.*",
    "keys.toml",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".vault-token",
)
_BINARY: Final = re.compile(
    r""".+\.(?:
        7z|apk|bz2|dmg|deb|gz|iso|jar|rar|rpm|tar|tgz|whl|xz|zip|zst
        | a|bin|class|dll|dylib|exe|lib|o|pyc|pyd|so|wasm
        | avif|bmp|gif|heic|ico|jpe?g|png|psd|tiff?|webp
        | avi|flac|m4a|mkv|mov|mp3|mp4|ogg|wav|webm
        | docx?|eot|otf|pdf|pptx?|ttf|woff2?|xlsx?
        | db|gguf|npy|npz|onnx|parquet|pickle|pkl|pth?|safetensors|sqlite3?
    )""",
    re.VERBOSE,
)
_DEVICES: Final = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\..*)?")


class BadPath(ValueError):
    """A path that is none of the workspace, whatever lies there; the message is for the tool model."""


def parts_of(path: str, *, windows: bool = os.name == "nt") -> tuple[str, ...]:
    """The parts of a path as a model writes it, absolute or relative; a first part of ``/`` or ``C:\\`` makes
    it absolute. ``..`` stays: what it means is known only where links are resolved.

    Raises:
        BadPath: it can't be a file's path, or it names a device, a network share or a stream of a file.
    """
    path = path.strip().strip("`'\"")
    if not path or len(path) > MAX_PATH or any(unicodedata.category(char) == "Cc" for char in path):
        raise BadPath("that is no path")
    path = path.replace("\\", "/")
    if path.startswith("//"):
        raise BadPath("network shares and devices are not read")
    whole = PureWindowsPath(path) if windows else PurePosixPath(path)
    parts = whole.parts
    names = parts[1:] if whole.anchor else parts
    if not windows and re.match(r"[A-Za-z]:/", path):
        raise BadPath("it lies outside the workspace")
    if windows:
        if whole.drive and not whole.root:
            raise BadPath("a drive without a folder is no path")
        if any(":" in name for name in names):
            raise BadPath("streams of files are not read")
        if any(_DEVICES.fullmatch(plain(name)) for name in names):
            raise BadPath("devices are not read")
    if any(plain(name) == "..namedfork" for name in names):
        raise BadPath("streams of files are not read")
    return parts


def is_secret(parts: Sequence[str]) -> bool:
    """Whether a file's name, or a folder above it, says that it holds secrets."""
    names = [plain(part) for part in parts]
    if any(name in _SECRET_FOLDERS for name in names):
        return True
    return bool(names) and any(fnmatchcase(names[-1], pattern) for pattern in _SECRET_FILES)


def is_binary_name(name: str) -> bool:
    """Whether a file of that name holds no text."""
    return _BINARY.fullmatch(plain(name)) is not None


def plain(name: str) -> str:
    """A part of a path as the most tolerant file system compares it."""
    visible = "".join(
        char for char in unicodedata.normalize("NFKC", name) if unicodedata.category(char) != "Cf"
    )
    return visible.casefold().rstrip(". ") if visible.strip(". ") else visible
