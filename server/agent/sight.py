"""Which way the pictures of a turn go: to a chat model that sees, or to the vision model. No I/O."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from server.agent.images import ImageStore, StoredImage
from server.errors import PetError

MAX_PICTURES: Final = 12
"""So many of a turn are looked at, the latest."""

HIDDEN: Final = "[a picture that this model can't see: image not seen]"


@dataclass(frozen=True, slots=True)
class Sight:
    """The pictures of a turn, in the order in which they came.

    Attributes:
        shown: these go to the chat model as they are.
        described: these need a summary of the vision model.
        lost: references of those that nobody can look at, and why.
    """

    shown: tuple[StoredImage, ...] = ()
    described: tuple[StoredImage, ...] = ()
    lost: tuple[tuple[str, PetError], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.shown or self.described or self.lost)


def sort_pictures(refs: Sequence[str], store: ImageStore, *, chat_sees: bool) -> Sight:
    """Sorts a turn's pictures.

    Args:
        refs: what came with the message, what it refers to, what tools gave; each counts once.
        chat_sees: whether the chat model is known to see.
    """
    unique = list(dict.fromkeys(refs))
    looked_at = unique[-MAX_PICTURES:]
    lost = [
        (ref, PetError("too_large", "vision.too_many", most=MAX_PICTURES)) for ref in unique[:-MAX_PICTURES]
    ]
    found = []
    for ref in looked_at:
        image = store.get(ref)
        if image is None:
            lost.append((ref, PetError("not_found", "vision.gone")))
        else:
            found.append(image)
    shown = tuple(found)
    return Sight(shown, (), tuple(lost)) if chat_sees else Sight((), shown, tuple(lost))


def image_parts(images: Sequence[StoredImage]) -> list[dict[str, Any]]:
    """Content parts for a model that sees: each picture behind the words that name it.

    They belong into a user message behind all tool messages; in a tool message they are refused.
    """
    return [
        part
        for image in images
        for part in (
            {"type": "text", "text": image.describe()},
            {"type": "image_url", "image_url": {"url": data_url(image)}},
        )
    ]


def data_url(image: StoredImage) -> str:
    """The copy for models as a ``data:`` URL."""
    return f"data:image/jpeg;base64,{b64encode(image.model_copy).decode('ascii')}"


def without_pictures(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The messages for a text-only model: words stand in the place of pictures, wherever these were."""
    return [_without_pictures(message) for message in messages]


def _without_pictures(message: Mapping[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if not isinstance(content, list):
        return dict(message)
    texts = [
        str(part.get("text") or "") if part.get("type") == "text" else HIDDEN
        for part in content
        if isinstance(part, Mapping)
    ]
    return {**message, "content": "\n".join(text for text in texts if text)}
