"""The registry: what is there, and what both switches leave of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.config.schema import Config
from server.config.store import ConfigStore
from tests.support.mcp_house import House, faulty
from tools.contract import ToolInfo, ToolResult
from tools.inprocess import Arguments, FunctionTool, tool
from tools.limits import result_limit, time_limit
from tools.registry import Registry, Switch

SWITCHES: dict[str, Switch] = {
    "tool__web_search": "web",
    "tool__read_file": "files",
    "git__status": "git",
    "tests__run": "checks",
    "vision__screen_shot": "screenshot",
    "free__one": "tools",
}


class Nothing(Arguments):
    pass


def made(name: str) -> FunctionTool[Nothing]:
    @tool(name, "A tool.", Nothing)
    async def one(arguments: Nothing, context: object) -> ToolResult:
        return ToolResult.text(name)

    return one


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    (tmp_path / "lab.toml").write_text("", encoding="utf-8")
    registry = Registry(ConfigStore(tmp_path / "lab.toml", tmp_path / "data"))
    for name, switch in SWITCHES.items():
        registry.add(made(name), switch)
    return registry


def store_of(registry: Registry) -> ConfigStore:
    return registry._store


def test_tools_keep_the_order_of_their_registration(registry: Registry) -> None:
    assert [info.name for info in registry.tools()] == list(SWITCHES)


@pytest.mark.parametrize("name", [name for name, switch in SWITCHES.items() if switch != "tools"])
async def test_a_client_can_turn_off_what_belongs_to_a_switch(name: str, registry: Registry) -> None:
    store = store_of(registry)
    await store.update(store.revision, {f"tools.{SWITCHES[name]}": False})
    assert registry.get(name) is None
    assert name not in [info.name for info in registry.tools()]
    assert {status.name: status.enabled for status in registry.status()} == {
        other: other != name for other in SWITCHES
    }


async def test_without_tools_there_is_none(registry: Registry) -> None:
    store = store_of(registry)
    await store.update(store.revision, {"agent.enable_tools": False})
    assert registry.tools() == []
    assert registry.get("free__one") is None
    assert len(registry.status()) == len(SWITCHES)


async def test_what_asks_its_owner_is_on(registry: Registry) -> None:
    store = store_of(registry)
    assert store.effective().screenshot == "ask"
    assert registry.get("vision__screen_shot") is not None


def test_what_lab_toml_turns_off_is_off(tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_text("[tools]\nweb = false\n", encoding="utf-8")
    registry = Registry(ConfigStore(tmp_path / "lab.toml", tmp_path / "data"))
    registry.add(made("tool__web_search"), "web")
    assert registry.tools() == []


@pytest.mark.parametrize("name", ["no_server", "bad name__x", "x" * 70 + "__y", "free__one"])
def test_a_name_that_is_none_or_taken_is_refused(name: str, registry: Registry) -> None:
    with pytest.raises(ValueError, match="name"):
        registry.add(made(name))


async def test_mcp_tools_join_when_their_server_is_up_and_leave_with_the_switch(tmp_path: Path) -> None:
    it = House(tmp_path, faulty(allow=["echo"]))
    registry = Registry(it.store, it._changed)
    it.servers = registry.mcp
    registry.add(made("free__one"))
    registry.start()
    try:
        assert [info.name for info in registry.tools()] == ["free__one"]
        await it.ready()
        assert [info.name for info in registry.tools()] == ["free__one", "x__echo"]
        assert registry.get("x__echo") is not None
        assert [(status.name, status.state) for status in registry.mcp_status()] == [("x", "ready")]
        await it.store.update(it.store.revision, {"agent.enable_mcp": False})
        assert [info.name for info in registry.tools()] == ["free__one"]
        assert [(status.name, status.state) for status in registry.mcp_status()] == [("x", "disabled")]
    finally:
        await registry.aclose()


async def test_an_mcp_tool_cannot_take_the_place_of_one_of_ours(tmp_path: Path) -> None:
    it = House(tmp_path, faulty(allow=["echo"]))
    registry = Registry(it.store, it._changed)
    it.servers = registry.mcp
    ours = made("x__echo")
    registry.add(ours)
    registry.start()
    try:
        await it.ready()
        assert registry.get("x__echo") is ours
    finally:
        await registry.aclose()


def test_the_closest_word_about_a_limit_counts() -> None:
    info = ToolInfo("a__b", "", {}, timeout_s=3, max_result_chars=500)
    plain = ToolInfo("a__c", "", {})
    config = Config.model_validate(
        {"tools": {"a__b": {"timeout_s": 5}}, "agent": {"tool_loop": {"timeout_s": 9}}}
    )
    assert (time_limit(config, info), result_limit(config, info)) == (5, 500)
    assert (time_limit(config, plain), result_limit(config, plain)) == (9, 12_000)
    assert time_limit(Config(), info) == 3
