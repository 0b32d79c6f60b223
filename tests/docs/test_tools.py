"""The turn that docs/tools.md shows is the one that happens, and its example of MCP servers is valid."""

from __future__ import annotations

import json
import re
from pathlib import Path

from bench.transcript import record, screen
from server.config.store import ConfigStore

PAGE = (Path(__file__).parents[2] / "docs" / "tools.md").read_text(encoding="utf-8")


async def test_a_screenshot_and_a_search_then_the_page_then_the_answer(tmp_path: Path) -> None:
    with screen():
        told = await record(tmp_path)
    ended = {
        (frame["step"], frame["name"], frame["outcome"])
        for frame in told.frames
        if frame["type"] == "tool.end"
    }
    assert ended == {
        (1, "vision__screen_shot", "ok"),
        (1, "tool__web_search", "ok"),
        (1, "tool__web_fetch", "deferred"),
        (2, "tool__web_fetch", "ok"),
    }
    assert len(told.requests["tool"]) == 3
    (asked,) = told.requests["chat"]
    words, title, picture = asked["messages"][-1]["content"]
    assert "blue, with a yellow square" in words["text"]
    assert title["text"].startswith("img_1: screenshot")
    assert picture["image_url"]["url"].startswith("data:image/jpeg;base64,")
    assert "tool_calls" not in json.dumps(asked)
    shown = re.search(r"^```text\n(.*?)\n```", PAGE, re.MULTILINE | re.DOTALL)
    assert shown is not None
    assert list(told.lines()) == shown.group(1).split("\n"), "python -m bench.transcript prints it anew"


def test_the_tables_for_mcp_servers_are_valid(tmp_path: Path) -> None:
    table = re.search(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert table is not None
    (tmp_path / "lab.toml").write_text(table.group(1), encoding="utf-8")
    assert {"repo", "remote"} <= ConfigStore(tmp_path / "lab.toml", tmp_path).config.mcp.servers.keys()
