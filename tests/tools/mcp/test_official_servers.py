"""Our client and the official MCP servers of PyPI and npm, as real processes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.calls import Context
from tests.support.mcp_house import House, house, table
from tests.support.official_mcp import make_repository, node_server, python_servers, tea_site
from tests.support.processes import gone
from tools.contract import PicturePart, TextPart, ToolFailure

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def starting(name: str, **keys: object) -> str:
    """Its table, with time for the first start after an installation."""
    return table(name, start_timeout_s=120, **keys)


@pytest.fixture(scope="module")
def cache(request: pytest.FixtureRequest) -> Path:
    assert request.config.cache is not None
    return request.config.cache.mkdir("official-mcp-servers")


@pytest.fixture(scope="module")
def python(cache: Path) -> str:
    return str(python_servers(cache))


async def test_the_time_server_converts_time(python: str, tmp_path: Path) -> None:
    settings = starting("clock", command=python, args=["-m", "mcp_server_time", "--local-timezone", "UTC"])
    async with house(tmp_path, settings) as it:
        await it.ready("clock")
        assert sorted(it.names()) == ["clock__convert_time", "clock__get_current_time"]
        arguments = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Shanghai"}
        assert "20:00:00+08:00" in str((await it.call("clock__convert_time", **arguments)).parts)
        with pytest.raises(ToolFailure, match="Nowhere"):
            await it.call("clock__get_current_time", timezone="Nowhere/Land")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repository")


async def test_the_git_server_reads_a_repository(python: str, repository: Path, tmp_path: Path) -> None:
    settings = starting(
        "repo", command=python, args=["-m", "mcp_server_git", "--repository", str(repository)]
    )
    async with house(tmp_path, settings) as it:
        await it.ready("repo")
        assert "repo__git_log" in it.names()
        assert "The first one" in await it.says("repo__git_log", repo_path=str(repository))
        with pytest.raises(ToolFailure) as failure:
            await it.call("repo__git_log", repo_path=str(tmp_path.parent))
        assert str(tmp_path.parent) not in str(failure.value)


async def test_the_fetch_server_reads_a_page(python: str, tmp_path: Path) -> None:
    with tea_site() as address:
        args = ["-m", "mcp_server_fetch", "--allow-private-ips"]
        open_one = starting("net", command=python, args=args, timeout_s=60)
        careful = starting("web", command=python, args=args[:2], timeout_s=60)
        async with house(tmp_path, open_one, careful) as it:
            await it.ready("net", "web")
            assert "80 degrees" in str((await it.call("net__fetch", url=f"{address}/page")).parts)
            with pytest.raises(ToolFailure, match="404"):
                await it.call("net__fetch", url=f"{address}/missing")
            with pytest.raises(ToolFailure, match="not a public address"):
                await it.call("web__fetch", url=f"{address}/page")


@pytest.fixture
async def everything(cache: Path, tmp_path: Path) -> AsyncIterator[House]:
    program, *args = node_server(cache, "everything")
    async with house(tmp_path, starting("all", command=program, args=args, timeout_s=60)) as it:
        await it.ready("all")
        yield it


async def test_the_server_with_everything_shows_texts_pictures_progress_and_data(everything: House) -> None:
    assert await everything.says("all__echo", message="hello 你好") == "Echo: hello 你好"
    assert "42" in await everything.says("all__get-sum", a=40, b=2)
    parts = (await everything.call("all__get-tiny-image")).parts
    (picture,) = [part for part in parts if isinstance(part, PicturePart)]
    assert picture.mime == "image/png"
    assert picture.data.startswith(b"\x89PNG")
    context = Context()
    await everything.call("all__trigger-long-running-operation", context, duration=1, steps=4)
    assert [done for done, *_ in context.told] == [1.0, 2.0, 3.0, 4.0]
    weather = await everything.call("all__get-structured-content", location="New York")
    assert "temperature" in str(weather.parts)
    links = await everything.call("all__get-resource-links", count=2)
    assert "demo://resource" in "".join(part.text for part in links.parts if isinstance(part, TextPart))
    embedded = await everything.call("all__get-resource-reference", resourceType="Text", resourceId=1)
    assert "Resource 1" in "".join(part.text for part in embedded.parts if isinstance(part, TextPart))
    with pytest.raises(ToolFailure):
        await everything.call("all__get-sum", a="no number")


async def test_the_server_with_everything_sees_no_variable_of_ours(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-key-0123456789")
    program, *args = node_server(cache, "everything")
    settings = starting("all", command=program, args=args)
    async with house(tmp_path, settings + '\n[mcp.servers.all.env]\nGIVEN = "yes"\n') as it:
        await it.ready("all")
        seen = await it.says("all__get-env")
        assert '"GIVEN": "yes"' in seen
        assert "OPENAI" not in seen
        assert "planted" not in seen


async def test_the_filesystem_server_stays_in_its_folder(cache: Path, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "note.txt").write_text("grüße", encoding="utf-8")
    program, *args = node_server(cache, "filesystem")
    settings = starting("disk", command=program, args=[*args, str(inside)], deny=["write_file", "edit_file"])
    async with house(tmp_path, settings) as it:
        await it.ready("disk")
        assert not {"disk__write_file", "disk__edit_file"} & set(it.names())
        assert "grüße" in str((await it.call("disk__read_text_file", path=str(inside / "note.txt"))).parts)
        with pytest.raises(ToolFailure, match="denied") as failure:
            await it.call("disk__read_text_file", path=str(tmp_path / "lab.toml"))
        assert str(tmp_path) not in str(failure.value)
        pid = it.servers["disk"].pid
    assert pid is not None
    await gone(pid)


async def test_servers_of_two_worlds_start_together_and_end_together(
    cache: Path, python: str, tmp_path: Path
) -> None:
    program, *args = node_server(cache, "everything")
    tables = [
        starting("all", command=program, args=args),
        starting("clock", command=python, args=["-m", "mcp_server_time"]),
        starting("timeemi", command="python", args=["-m", "mcp_servers.timeemi"]),
    ]
    async with house(tmp_path, *tables) as it:
        await it.ready("all", "clock", "timeemi")
        pids = [it.servers[name].pid or 0 for name in ("all", "clock", "timeemi")]
    await gone(*pids)
