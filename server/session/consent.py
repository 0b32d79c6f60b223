"""Questions to the owner: may a tool do this, once, always or never?"""

from __future__ import annotations

import asyncio
import logging
import secrets
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from server.protocol import Capability, ConsentAnswerWord
from server.storage.database import Database

log = logging.getLogger(__name__)

ANSWER_WITHIN_S: Final = 30.0


class StandingConsents:
    """What the owner answered with ``always`` or ``never``, kept in the database.

    A subject narrows a capability down (the folder of a check); "" is the capability itself.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._answers: dict[tuple[str, str], bool] = {}

    async def load(self) -> None:
        def read(connection: sqlite3.Connection) -> list[tuple[str, str, int]]:
            return connection.execute("SELECT capability, subject, allowed FROM consents").fetchall()

        try:
            rows = await self._database.read(read)
        except sqlite3.Error as error:
            log.warning("standing consents could not be read: %s", type(error).__name__)
            return
        self._answers = {(capability, subject): bool(allowed) for capability, subject, allowed in rows}

    def get(self, capability: Capability, subject: str = "") -> bool | None:
        """True for always, False for never, None where the owner has to be asked."""
        return self._answers.get((capability, subject))

    async def keep(self, capability: Capability, allowed: bool, subject: str = "") -> None:
        self._answers[capability, subject] = allowed

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO consents (capability, subject, allowed) VALUES (?, ?, ?)",
                (capability, subject, int(allowed)),
            )

        await self._write(write)

    async def forget(self, capability: Capability) -> None:
        """The owner is asked again."""
        self._answers = {key: value for key, value in self._answers.items() if key[0] != capability}

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM consents WHERE capability = ?", (capability,))

        await self._write(write)

    async def _write(self, operation: Callable[[sqlite3.Connection], None]) -> None:
        try:
            await self._database.run(operation)
        except sqlite3.Error as error:
            log.warning("a standing consent could not be stored: %s", type(error).__name__)


@dataclass(frozen=True, slots=True)
class _Question:
    capability: Capability
    subject: str
    answer: asyncio.Future[ConsentAnswerWord]


class Consents:
    """The open questions of one session.

    Args:
        ask: shows a question to the session's clients: the turn, the question's id, capability and detail.
        listened: whether anybody is there who could answer.
    """

    def __init__(
        self,
        standing: StandingConsents,
        ask: Callable[[int, str, Capability, str], None],
        listened: Callable[[], bool],
        within_s: float = ANSWER_WITHIN_S,
    ) -> None:
        self._standing = standing
        self._ask = ask
        self._listened = listened
        self._within_s = within_s
        self._open: dict[str, _Question] = {}

    async def request(self, turn: int, capability: Capability, detail: str, subject: str = "") -> bool:
        """Whether the owner allows it; silence is a no. Equal questions are asked once."""
        standing = self._standing.get(capability, subject)
        if standing is not None:
            return standing
        if not self._listened():
            return False
        question_id, question = self._find_or_open(turn, capability, detail, subject)
        try:
            async with asyncio.timeout(self._within_s):
                answer = await asyncio.shield(question.answer)
        except TimeoutError:
            return False
        finally:
            self._open.pop(question_id, None)
        if answer != "once":
            await self._standing.keep(capability, answer == "always", subject)
        return answer != "never"

    def answer(self, question_id: str, answer: ConsentAnswerWord) -> bool:
        """Takes the owner's answer; False where that question isn't open (any more)."""
        question = self._open.get(question_id)
        if question is None or question.answer.done():
            return False
        question.answer.set_result(answer)
        return True

    def _find_or_open(
        self, turn: int, capability: Capability, detail: str, subject: str
    ) -> tuple[str, _Question]:
        for question_id, question in self._open.items():
            if (question.capability, question.subject) == (capability, subject):
                return question_id, question
        question = _Question(capability, subject, asyncio.get_running_loop().create_future())
        question_id = secrets.token_hex(8)
        self._open[question_id] = question
        self._ask(turn, question_id, capability, detail)
        return question_id, question
