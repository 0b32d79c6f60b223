"""What a session's tools share from turn to turn: pictures, addresses, anchors, questions to the owner."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import ValidationError

from server.agent.addresses import urls
from server.agent.images import ImageStore
from server.agent.state import ConversationState
from server.session.consent import Consents
from server.storage.database import Database
from tools.contract import Findings
from tools.web.address import normalise

log = logging.getLogger(__name__)

_MAX_URLS: Final = 1000
_MAX_IMAGE_BYTES: Final = 48 * 1024 * 1024


class KnownUrls:
    """Addresses that may be fetched: the user, a search or a fetched page's own links gave them.

    The newest ``_MAX_URLS`` are kept.
    """

    def __init__(self) -> None:
        self._urls: dict[str, None] = {}

    def add(self, addresses: Iterable[str]) -> None:
        for address in addresses:
            normal = normalise(address)
            if normal is not None:
                self._urls.pop(normal, None)
                self._urls[normal] = None
        while len(self._urls) > _MAX_URLS:
            del self._urls[next(iter(self._urls))]

    def snapshot(self) -> frozenset[str]:
        return frozenset(self._urls)


class Workbench:
    """One session's.

    Attributes:
        state: the anchors of the conversation, kept in the database.
        images: its pictures, in memory alone.
    """

    def __init__(self, database: Database, session: str, consents: Consents) -> None:
        self._database = database
        self._session = session
        self.consents = consents
        self.state = ConversationState()
        self.images = ImageStore(_MAX_IMAGE_BYTES)
        self._known_urls = KnownUrls()

    @property
    def known_urls(self) -> frozenset[str]:
        return self._known_urls.snapshot()

    def heard(self, text: str, pictures: Sequence[str], page_url: str | None) -> None:
        """Takes in a message of the user and the address of the page that it was sent from."""
        self.state.after_user(text, pictures)
        self._known_urls.add(urls(text))
        if page_url is not None:
            self._known_urls.add((page_url,))

    def learned(self, name: str, findings: Findings, pictures: Sequence[str]) -> None:
        """Takes in the result of a tool."""
        self.state.after_tool(name, findings, pictures)
        self._known_urls.add(findings.urls)
        self._known_urls.add(hit.url for hit in findings.search)

    async def load(self) -> None:
        def read(connection: sqlite3.Connection) -> str | None:
            row = connection.execute("SELECT state FROM sessions WHERE id = ?", (self._session,)).fetchone()
            return row[0] if row else None

        try:
            text = await self._database.read(read)
            if text is not None:
                self.state = ConversationState.model_validate_json(text)
                # Pictures live in memory alone: a reference from before a restart names nothing.
                self.images = ImageStore(_MAX_IMAGE_BYTES, after=_number(self.state.last_image_ref))
                self.state.last_image_ref = None
        except (sqlite3.Error, ValidationError) as error:
            log.warning("a conversation's anchors could not be read: %s", type(error).__name__)
        self._known_urls.add(result.url for result in self.state.last_search)
        if self.state.last_url_ok is not None:
            self._known_urls.add((self.state.last_url_ok,))

    async def save(self) -> None:
        text, session = self.state.model_dump_json(), self._session

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE sessions SET state = ? WHERE id = ?", (text, session))

        try:
            await self._database.run(write)
        except sqlite3.Error as error:
            log.warning("a conversation's anchors could not be stored: %s", type(error).__name__)

    async def forget(self) -> None:
        """The chat was cleared: nothing in it can be referred to any more."""
        self.state = ConversationState()
        self.images = ImageStore(_MAX_IMAGE_BYTES, after=_number(self.images.last_ref))
        self._known_urls = KnownUrls()
        await self.save()


def _number(ref: str | None) -> int:
    """3 for ``img_3``: later references count on, so that one never means another picture."""
    digits = (ref or "").removeprefix("img_")
    return int(digits) if digits.isdecimal() else 0
