"""What a site lets robots read, as RFC 9309 says: no robots.txt (4xx) allows everything, one that can't be
had (5xx, no answer) nothing."""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tools.contract import ToolFailure
from tools.web.address import target_of
from tools.web.decode import to_text

if TYPE_CHECKING:
    from protego import Protego

    from tools.web.download import Downloader

MAX_BYTES: Final = 512_000
MAX_SITES: Final = 200
KEPT_S: Final = 3600.0
ERROR_KEPT_S: Final = 60.0
_AGENT_LINE: Final = re.compile(r"[ \t]*user[- ]?agent[ \t]*:?[ \t]*([^\r\n#]*)", re.IGNORECASE)
_TOKEN: Final = re.compile(r"\*|[a-z_-]+")


class Robots:
    """The rules of sites, kept for an hour.

    Args:
        product: our name in robots.txt.
        clock: seconds that only grow.
    """

    def __init__(self, product: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._product = product
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, Protego | int]] = OrderedDict()

    async def check(self, url: str, downloader: Downloader) -> None:
        """
        Raises:
            ToolFailure: the site lets no robot read ``url``, doesn't say whether, or isn't reached.
        """
        origin = target_of(url).origin
        rules = self._recall(origin)
        if rules is None:
            rules = await self._ask(origin, downloader)
        host = target_of(url).host
        if isinstance(rules, int):
            if rules >= 500:
                raise ToolFailure(
                    f"{host} gave no robots.txt (HTTP {rules}), so its pages are not fetched now."
                )
            return
        if not await asyncio.to_thread(rules.can_fetch, url, self._product):
            raise ToolFailure(f"The robots.txt of {host} asks programs not to read this address.")

    def _recall(self, origin: str) -> Protego | int | None:
        entry = self._kept.get(origin)
        if entry is None or entry[0] <= self._clock():
            return None
        self._kept.move_to_end(origin)
        return entry[1]

    async def _ask(self, origin: str, downloader: Downloader) -> Protego | int:
        answer = await downloader.get(
            f"{origin}/robots.txt", accept="text/plain, */*;q=0.1", max_bytes=MAX_BYTES
        )
        rules: Protego | int = answer.status
        if answer.status < 300:
            rules = await asyncio.to_thread(_parse, answer.body, self._product)
        self._remember(origin, rules, ERROR_KEPT_S if answer.status >= 500 else KEPT_S)
        return rules

    def _remember(self, origin: str, rules: Protego | int, kept_s: float) -> None:
        self._kept[origin] = (self._clock() + kept_s, rules)
        self._kept.move_to_end(origin)
        while len(self._kept) > MAX_SITES:
            self._kept.popitem(last=False)


def _parse(body: bytes, product: str) -> Protego:
    from protego import Protego

    return Protego.parse(relevant(to_text(body, "utf-8"), product))


def relevant(text: str, product: str) -> str:
    """``text`` with every robot but ours and ``*`` under one name. The parser gives each rule of a group to
    each of its robots, so that a hostile file of 20,000 robots and as many rules would fill the memory."""
    lines = []
    for line in text.splitlines():
        match = _AGENT_LINE.match(line)
        if match is None:
            lines.append(line)
            continue
        token = _TOKEN.match(match[1].lower())
        name = token[0] if token and token[0] in ("*", product) else "another"
        lines.append(f"user-agent: {name}")
    return "\n".join(lines)
