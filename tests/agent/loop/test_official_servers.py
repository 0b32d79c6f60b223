"""The loop drives the official MCP servers and ours, as real processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.loop.workshop import DONE, Workshop, call, calls
from tests.support.mcp_house import House, table
from tests.support.official_mcp import make_repository, node_server, python_servers, tea_site
from tools.registry import Registry

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


async def test_calls_of_one_step_go_to_six_servers_at_once_and_a_fetch_follows(
    shop: Workshop, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    assert request.config.cache is not None
    cache = request.config.cache.mkdir("official-mcp-servers")
    python = str(python_servers(cache))
    repository = make_repository(tmp_path / "repository")
    (repository / "note.txt").write_text("buy tea, TOKEN=hunter22", encoding="utf-8")
    node, everything = node_server(cache, "everything")
    _, files = node_server(cache, "filesystem")
    commands = {
        "timeemi": ["python", "-m", "mcp_servers.timeemi"],
        "clock": [python, "-m", "mcp_server_time"],
        "repo": [python, "-m", "mcp_server_git"],
        "net": [python, "-m", "mcp_server_fetch", "--allow-private-ips"],
        "all": [node, everything],
        "disk": [node, files, str(repository)],
    }
    tables = (
        table(name, command=program, args=args, start_timeout_s=120, timeout_s=60)
        for name, (program, *args) in commands.items()
    )
    house = House(tmp_path, "\n".join(tables))
    registry = Registry(house.store, house._changed)
    house.servers = registry.mcp
    registry.start()
    try:
        await house.ready(*commands)
        with tea_site() as address:
            shop.provider.script(
                calls(
                    call("timeemi__roll_dice", {"dice": 2}),
                    call("clock__get_current_time", {"timezone": "Asia/Shanghai"}),
                    call("repo__git_log", {"repo_path": str(repository)}),
                    call("all__get-tiny-image", {}),
                    call("disk__read_text_file", {"path": str(repository / "note.txt")}),
                    call("disk__read_text_file", {"path": str(tmp_path / "lab.toml")}),
                    call("all__no-such-tool", {}),
                ),
                calls(call("net__fetch", {"url": f"{address}/page"})),
                DONE,
            )
            outcome = await shop.run(registry=registry, settings={"timeout_s": 60})
    finally:
        await registry.aclose()
    assert outcome.stopped == "answered"
    assert [(entry.step, entry.server, entry.outcome) for entry in outcome.trace] == [
        (1, "timeemi", "ok"),
        (1, "clock", "ok"),
        (1, "repo", "ok"),
        (1, "all", "ok"),
        (1, "disk", "ok"),
        (1, "disk", "error"),
        (1, "all", "error"),
        (2, "net", "ok"),
    ]
    dice, clock, log, picture, note, denied, unknown, page = shop.results()
    assert '"total"' in dice
    assert "Asia/Shanghai" in clock
    assert "The first one" in log
    # The server's picture has a chunk with a wrong checksum: it may be kept or refused, but it is never text.
    assert "picture" in picture or "img_1" in picture
    assert "iVBOR" not in picture
    assert "buy tea" in note
    assert "hunter22" not in note
    assert "denied" in denied
    assert "all__get-tiny-image" in unknown
    assert "80 degrees" in page
