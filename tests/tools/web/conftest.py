from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from tests.support.website import Internet, Website
from tools.web.download import Downloader
from tools.web.fetch import WebFetch
from tools.web.networks import Borders

PUBLIC = "93.184.216.34"


@pytest.fixture
async def site() -> AsyncIterator[Website]:
    async with Website() as site:
        yield site


@pytest.fixture
def internet(site: Website) -> Internet:
    """``site`` is at ``page.example``."""
    return Internet({"page.example": [[PUBLIC]]}, {PUBLIC: site.port})


@pytest.fixture
def downloader(site: Website) -> Downloader:
    """May reach ``site`` at its own address, and nothing else on this machine."""
    borders = Borders.of([site.authority])
    return Downloader(lambda: borders, proxies=dict)


@pytest.fixture
def far(internet: Internet) -> Downloader:
    """May reach no private place; the internet is :func:`internet`."""
    return Downloader(Borders, resolve=internet.resolve, connect=internet.dial, proxies=dict)


@pytest.fixture
def fetch(site: Website) -> WebFetch:
    def make(borders: Callable[[], Borders]) -> Downloader:
        return Downloader(borders, proxies=dict)

    return WebFetch(lambda: [site.authority], make)
