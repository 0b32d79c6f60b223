"""The owner's token, and the one-time codes that a page changes for it."""

from __future__ import annotations

import hmac
import os
import re
import secrets
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from server.config.files import private_folder

_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43,128}")
_ATTEMPTS: Final = 10
_CODE_LIFE_S: Final = 60.0
_MAX_CODES: Final = 16


class TokenFile:
    """``token`` in the data folder, readable by the user alone. The file is the truth: it is read anew
    each time, so that deleting it makes a new token, and the old one worthless, at once."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / "token"

    def read(self) -> str:
        """The token; made where there is none or the file holds something else.

        Raises:
            OSError: it can be neither read nor made.
        """
        for _ in range(_ATTEMPTS):
            with suppress(FileNotFoundError):
                token = self._path.read_bytes().decode("ascii", "replace").strip()
                if _TOKEN.fullmatch(token):
                    self._keep_private()
                    return token
                self._path.unlink()
            self._make()
        raise OSError(f"no token can be kept in {self._path.name}")

    def check(self) -> None:
        """Changes nothing.

        Raises:
            OSError: there is something that can't be read.
        """
        with suppress(FileNotFoundError), self._path.open("rb"):
            pass

    def matches(self, presented: str) -> bool:
        """Whether ``presented`` is the token, compared in constant time; False where it can't be read."""
        try:
            token = self.read()
        except OSError:
            return False
        return hmac.compare_digest(presented.encode(), token.encode())

    def _make(self) -> None:
        """Puts a whole token there at once, unless another process was first."""
        private_folder(self._path.parent)
        handle, name = tempfile.mkstemp(prefix=".token.", dir=self._path.parent)
        fresh = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(32) + "\n")
                file.flush()
                os.fsync(file.fileno())
            self._publish(fresh)
        finally:
            fresh.unlink(missing_ok=True)

    def _publish(self, fresh: Path) -> None:
        try:
            os.link(fresh, self._path)
        except FileExistsError:
            pass
        except OSError:
            # A file system without hard links: the last one wins, and everybody reads it again.
            if not self._path.exists():
                fresh.replace(self._path)

    def _keep_private(self) -> None:
        if os.name == "posix" and self._path.stat().st_mode & 0o077:
            self._path.chmod(0o600)


class OneTimeCodes:
    """Codes that are worth the token once, for 60 seconds; at most 16 at a time.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._codes: dict[str, float] = {}

    def issue(self) -> str:
        """A new code; the oldest gives way when there are too many."""
        self._drop_old()
        while len(self._codes) >= _MAX_CODES:
            del self._codes[next(iter(self._codes))]
        code = secrets.token_urlsafe(24)
        self._codes[code] = self._clock() + _CODE_LIFE_S
        return code

    def redeem(self, presented: str) -> bool:
        """Whether ``presented`` is a living code; it is used up by that."""
        self._drop_old()
        raw = presented.encode()
        found = [code for code in self._codes if hmac.compare_digest(code.encode(), raw)]
        for code in found:
            del self._codes[code]
        return bool(found)

    def _drop_old(self) -> None:
        now = self._clock()
        self._codes = {code: end for code, end in self._codes.items() if end > now}
