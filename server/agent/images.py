"""The pictures of a session, in memory alone: full size for looking closer, scaled for a model."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from typing import Final

from tools.contract import PicturePart
from tools.pictures import ImageError, Prepared, prepare
from tools.threads import run_blocking

__all__ = ["DEFAULT_MAX_BYTES", "ImageError", "ImageStore", "StoredImage"]

DEFAULT_MAX_BYTES: Final = 96 * 1024 * 1024
_MAX_TITLE: Final = 200


@dataclass(frozen=True, slots=True)
class StoredImage:
    """A picture of the store; it stays valid for whoever holds it, also after the store has dropped it.

    Attributes:
        ref: ``img_3``.
        title: what it shows, one line; "" = not told.
        digest: SHA-256 of the bytes that came.
    """

    ref: str
    title: str
    digest: str
    picture: Prepared

    @property
    def data(self) -> bytes:
        """Full size."""
        return self.picture.data

    @property
    def mime(self) -> str:
        """Of ``data``."""
        return self.picture.mime

    @property
    def width(self) -> int:
        return self.picture.width

    @property
    def height(self) -> int:
        return self.picture.height

    @property
    def model_copy(self) -> bytes:
        """What a model is shown: a JPEG of at most 1,280 px a side."""
        return self.picture.model_copy

    @property
    def thumbnail(self) -> bytes:
        """A JPEG of at most 320 px a side and 30 KB."""
        return self.picture.thumbnail

    @property
    def size(self) -> int:
        """Bytes that it takes in memory."""
        return len(self.data) + len(self.model_copy) + len(self.thumbnail)

    @property
    def part(self) -> PicturePart:
        return PicturePart(self.data, self.mime, self.title)

    def describe(self) -> str:
        """The words that stand in its place in a text: ``img_3: monitor 1 (image/png, 1920×1080)``."""
        facts = f"({self.mime}, {self.width}×{self.height})"
        return f"{self.ref}: {self.title} {facts}" if self.title else f"{self.ref} {facts}"


class ImageStore:
    """Bounded in bytes; the oldest pictures go first, the newest always stays.

    Args:
        max_bytes: of all forms of all pictures.
        after: the number of the last reference that this session gave in an earlier life of the program,
            so that a reference never means another picture later.
    """

    def __init__(self, max_bytes: int = DEFAULT_MAX_BYTES, *, after: int = 0) -> None:
        self._max_bytes = max_bytes
        self._number = after
        self._images: OrderedDict[str, StoredImage] = OrderedDict()
        self._bytes = 0

    async def add(self, data: bytes, mime: str = "", title: str = "") -> str:
        """Checks and keeps a picture.

        Args:
            mime: as its giver called it; what counts is what the bytes are.

        Returns:
            Its reference, ``img_1`` and counting.

        Raises:
            ImageError: no picture, a broken one or one that is too large.
        """
        digest = hashlib.sha256(data).hexdigest()
        picture = await run_blocking(partial(prepare, data), "picture")
        self._number += 1
        ref = f"img_{self._number}"
        image = StoredImage(ref, " ".join(title.split())[:_MAX_TITLE], digest, picture)
        self._images[ref] = image
        self._bytes += image.size
        while self._bytes > self._max_bytes and len(self._images) > 1:
            _, dropped = self._images.popitem(last=False)
            self._bytes -= dropped.size
        return ref

    def get(self, ref: str) -> StoredImage | None:
        """The picture, or None where it never was or was dropped."""
        return self._images.get(ref.strip())

    def part(self, ref: str) -> PicturePart | None:
        """The picture at full size, as tools take it (:meth:`tools.contract.CallContext.picture`)."""
        image = self.get(ref)
        return image.part if image is not None else None

    def thumbnail(self, ref: str) -> bytes | None:
        image = self.get(ref)
        return image.thumbnail if image is not None else None

    @property
    def last_ref(self) -> str | None:
        """The newest reference that is still kept."""
        return next(reversed(self._images), None)

    @property
    def refs(self) -> list[str]:
        """The references that are kept, oldest first."""
        return list(self._images)

    @property
    def bytes_used(self) -> int:
        return self._bytes
