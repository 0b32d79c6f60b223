"""Eyes for a chat model that has none: the vision model describes the pictures of a turn.

A picture that nobody could look at stays unseen, and the prompt says so. Descriptions are content from
outside: what is written in a picture can be anybody's words.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final, Literal, Protocol, TypeAlias

from server.agent.compose import UNTRUSTED, quote
from server.agent.images import StoredImage
from server.agent.persona import prompt_file
from server.agent.plain_text import fit_for_model
from server.agent.prompt import Exchange
from server.agent.sight import data_url
from server.errors import PetError
from server.expression.reasoning import ReasoningSplitter, Reply
from server.models.events import RoleModel
from server.protocol import Role, Usage

log = logging.getLogger(__name__)

EACH_S: Final = 30.0
MAX_CHARS: Final = 4000
_CACHED: Final = 128
_RECENT: Final = 4
_RECENT_CHARS: Final = 500
_QUESTION_CHARS: Final = 2000
_NO_IMAGE: Final = "no image"
_NOT_SEEN: Final = "Don't describe it or guess what it shows; say that you couldn't look at it."

Context: TypeAlias = Literal["chat", "minimal"]


class Answer(Protocol):
    """A model's whole answer (:class:`server.models.completion.Completion`)."""

    @property
    def text(self) -> str: ...

    @property
    def usage(self) -> Usage: ...


class Hub(Protocol):
    """What is needed of :class:`server.models.hub.ModelHub`."""

    async def resolve(self, role: Role) -> RoleModel: ...

    async def complete(
        self, model: RoleModel, messages: Sequence[Mapping[str, Any]], *, temperature: float = 0.0
    ) -> Answer: ...


@dataclass(frozen=True, slots=True)
class VisionSummary:
    """What became of one picture: either ``text``, or ``problem``."""

    ref: str
    text: str | None = None
    problem: PetError | None = None

    @property
    def seen(self) -> bool:
        return self.text is not None

    @property
    def reason(self) -> str:
        """Why it wasn't seen, for the model."""
        return str(self.problem or "")

    def words(self) -> str:
        """For the chat model's prompt; a description is quoted line by line."""
        if self.text is not None:
            return f"{self.ref}:\n{quote(self.text)}"
        return f"{self.ref}: image not seen ({self.reason.rstrip('.')}). {_NOT_SEEN}"


@dataclass(frozen=True, slots=True)
class VisionOutcome:
    """What became of a turn's pictures, in their order.

    Attributes:
        outcome: ``timeout`` where time was all that went wrong.
        usage: of all requests together.
    """

    summaries: tuple[VisionSummary, ...]
    outcome: Literal["ok", "error", "timeout"]
    ms: int
    usage: Usage

    @property
    def problem(self) -> PetError | None:
        """The first thing that went wrong, for the user's notice."""
        return next((summary.problem for summary in self.summaries if summary.problem is not None), None)

    def section(self) -> str:
        """The body of ``[Vision Summary]``."""
        seen = [summary.words() for summary in self.summaries if summary.seen]
        unseen = [summary.words() for summary in self.summaries if not summary.seen]
        return "\n\n".join([*([UNTRUSTED] if seen else []), *seen, *unseen])


class Vision:
    """Asks the vision model; one for each companion, since what a picture shows is the same everywhere.

    Args:
        allowed: whether both switches leave vision on.
        each_s: for one picture. Pictures share a local model, which takes them one after another: there
            each has the time of all.
    """

    def __init__(
        self, hub: Hub, allowed: Callable[[], bool] = lambda: True, *, each_s: float = EACH_S
    ) -> None:
        self._hub = hub
        self._allowed = allowed
        self._each_s = each_s
        self._prompt = prompt_file("vision.md")
        self._known: OrderedDict[tuple[str, str, str], str] = OrderedDict()

    async def describe(
        self,
        images: Sequence[StoredImage],
        question: str,
        *,
        recent: Sequence[Exchange] = (),
        context: Context = "minimal",
        lost: Sequence[tuple[str, PetError]] = (),
    ) -> VisionOutcome:
        """Describes all ``images`` at the same time; never raises but when it is cancelled.

        Args:
            question: the user's message.
            recent: the chat before it; looked at with ``context`` "chat" alone.
            lost: pictures that can't be looked at, which are told of first.
        """
        began = monotonic()
        about = _about(question, recent[-_RECENT:] if context == "chat" else ())
        given_up = [VisionSummary(ref, problem=problem) for ref, problem in lost]
        summaries, usage = await self._describe_all(images, about) if images else ([], Usage())
        summaries = [*given_up, *summaries]
        return VisionOutcome(
            tuple(summaries), _outcome_of(summaries), round((monotonic() - began) * 1000), usage
        )

    async def _describe_all(
        self, images: Sequence[StoredImage], about: str
    ) -> tuple[list[VisionSummary], Usage]:
        try:
            model = await self._model()
        except PetError as problem:
            return [VisionSummary(image.ref, problem=problem) for image in images], Usage()
        alike = {image.digest: image for image in images}
        within_s = self._each_s * (len(alike) if model.local else 1)
        looks = [self._look(image, about, model, within_s) for image in alike.values()]
        looked = dict(zip(alike, await asyncio.gather(*looks), strict=True))
        usage = Usage(
            prompt=sum(spent.prompt for _, spent in looked.values()),
            completion=sum(spent.completion for _, spent in looked.values()),
        )
        summaries = []
        for image in images:
            got = looked[image.digest][0]
            if isinstance(got, str):
                summaries.append(VisionSummary(image.ref, text=got))
            else:
                summaries.append(VisionSummary(image.ref, problem=got))
        return summaries, usage

    async def _model(self) -> RoleModel:
        if not self._allowed():
            raise PetError("forbidden", "vision.off")
        model = await self._hub.resolve("vision")
        if model.capabilities.vision is False:
            raise PetError("needs_model", "vision.blind", hint="models.choose_vision", model=model.model)
        return model

    async def _look(
        self, image: StoredImage, about: str, model: RoleModel, within_s: float
    ) -> tuple[str | PetError, Usage]:
        """The description or what went wrong, and the tokens that it took."""
        key = (image.digest, model.provider, model.model)
        if (known := self._known.get(key)) is not None:
            self._known.move_to_end(key)
            return known, Usage()
        try:
            async with asyncio.timeout(within_s):
                answer = await self._hub.complete(model, self._messages(image, about), temperature=0.0)
        except TimeoutError:
            seconds = round(within_s)
            return PetError("provider_error", "vision.slow", model=model.model, seconds=seconds), Usage()
        except PetError as problem:
            return problem, Usage()
        except Exception:
            log.exception("describing a picture failed")
            return PetError("internal", "session.internal"), Usage()
        text = fit_for_model(_said(answer.text), MAX_CHARS)
        if not text:
            return PetError("empty_reply", "vision.silent", model=model.model), answer.usage
        if text.casefold().strip(" .!\"'`*") == _NO_IMAGE:
            return PetError("needs_model", "vision.blind", model=model.model), answer.usage
        self._known[key] = text
        while len(self._known) > _CACHED:
            self._known.popitem(last=False)
        return text, answer.usage

    def _messages(self, image: StoredImage, about: str) -> list[dict[str, Any]]:
        return [
            {"role": "system", "content": self._prompt},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": about},
                    {"type": "image_url", "image_url": {"url": data_url(image)}},
                ],
            },
        ]


def _about(question: str, recent: Sequence[Exchange]) -> str:
    """What the vision model is told of the chat, quoted."""
    said = [f"{said.role}: {fit_for_model(said.text, _RECENT_CHARS)}" for said in recent]
    before = f"The chat before:\n{quote(chr(10).join(said))}\n\n" if said else ""
    words = fit_for_model(question, _QUESTION_CHARS).strip() or "(no words)"
    return f"{before}The user's message:\n{quote(words)}\n\nThe picture:"


def _said(text: str) -> str:
    """The answer without the model's thinking."""
    splitter = ReasoningSplitter()
    pieces = [*splitter.feed(text), *splitter.close()]
    return "".join(piece.text for piece in pieces if isinstance(piece, Reply)).strip()


def _outcome_of(summaries: Sequence[VisionSummary]) -> Literal["ok", "error", "timeout"]:
    problems = [summary.problem for summary in summaries if summary.problem is not None]
    if not problems:
        return "ok"
    return "timeout" if all(problem.text == "vision.slow" for problem in problems) else "error"
