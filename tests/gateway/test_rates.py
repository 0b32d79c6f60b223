from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from server.config.schema import Config, Limits
from server.errors import PetError
from server.gateway.rates import Admission


@dataclass
class Store:
    config: Config = field(default_factory=Config)


def admission(**limits: Any) -> tuple[Admission, Store]:
    store = Store(Config(limits=Limits(**limits)))
    return Admission(store), store


async def admitted(door: Admission, address: str, times: int) -> int:
    """How many of ``times`` messages at once were let in."""
    outcomes = await asyncio.gather(
        *(door.admit(address, "Hi", ()) for _ in range(times)), return_exceptions=True
    )
    assert all(outcome is None or isinstance(outcome, PetError) for outcome in outcomes)
    return outcomes.count(None)


async def test_each_address_has_its_own_minute() -> None:
    door, _ = admission(turns_per_minute=3)
    assert await admitted(door, "127.0.0.1", 5) == 3
    assert await admitted(door, "127.0.0.2", 2) == 2


async def test_who_is_refused_learns_when_to_come_back() -> None:
    door, _ = admission(turns_per_minute=1)
    await door.admit("127.0.0.1", "Hi", ())
    with pytest.raises(PetError) as refused:
        await door.admit("127.0.0.1", "Hi", ())
    assert refused.value.code == "rate_limited"
    assert refused.value.retryable
    assert refused.value.retry_after_s is not None
    assert 0 < refused.value.retry_after_s <= 60
    assert "1" in refused.value.message("en")
    assert refused.value.message("zh-CN")


async def test_all_addresses_together_have_an_hour() -> None:
    door, _ = admission(turns_per_hour=4)
    assert await admitted(door, "a", 3) == 3
    assert await admitted(door, "b", 3) == 1
    with pytest.raises(PetError) as refused:
        await door.admit("c", "Hi", ())
    assert refused.value.retry_after_s is not None
    assert 60 < refused.value.retry_after_s <= 3600


async def test_a_message_that_breaks_a_limit_is_not_counted() -> None:
    door, _ = admission(turns_per_minute=1, max_text_chars=2)
    for _ in range(3):
        with pytest.raises(PetError, match="characters"):
            await door.admit("a", "too long", ())
    assert await admitted(door, "a", 1) == 1


async def test_a_changed_limit_holds_at_once() -> None:
    door, store = admission(turns_per_minute=1)
    assert await admitted(door, "a", 2) == 1
    store.config = Config(limits=Limits(turns_per_minute=5))
    assert await admitted(door, "a", 1) == 1


async def test_a_store_that_cannot_be_used_lifts_no_limit(caplog: pytest.LogCaptureFixture) -> None:
    door, _ = admission(turns_per_minute=2, storage="redis://127.0.0.1:9/0")
    assert await admitted(door, "a", 4) == 2
    assert [record.levelname for record in caplog.records if "limits' store" in record.message] == ["WARNING"]
