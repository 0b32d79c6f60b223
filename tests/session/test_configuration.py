"""What clients hear of lab.toml while the companion runs."""

from __future__ import annotations

import json
from pathlib import Path

from server.app import App, Listening
from server.config.locate import locate, prepare
from tests.support.companion import NO_TOOLS, Companion, companion


def edit(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


async def test_a_broken_lab_toml_is_told_and_so_is_that_it_is_good_again(tmp_path: Path) -> None:
    async with companion(tmp_path, NO_TOOLS) as running:
        talker = await running.talker()
        edit(tmp_path / "lab.toml", "[chat\n")
        broken = await talker.until("notice")
        assert (broken["code"], broken["level"]) == ("configuration", "error")
        edit(tmp_path / "lab.toml", NO_TOOLS)
        good = await talker.until("notice")
        assert (good["code"], good["level"]) == ("configuration_ok", "info")


async def test_no_frame_carries_the_folder_of_a_lab_toml_given_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    edit(path, NO_TOOLS)
    found = locate(path, tmp_path / "data")
    prepare(found)
    async with App(found, Listening("127.0.0.1", 0)) as app:
        running = Companion(app)
        talker = await running.talker()
        edit(path, "[chat]\ntemprature = 1\n")
        notice = await talker.until("notice")
        assert "own.toml:2: chat.temprature" in notice["message"]
        refused = await talker.ask("settings.update", revision="x", changes={"chat.temperature": 1})
        assert refused["type"] == "error"
        later = await running.talker()
        await later.until("notice")
        for frame in talker.frames + later.frames:
            assert str(tmp_path) not in json.dumps(frame, ensure_ascii=False)
        await running.leave()


async def test_a_restart_is_asked_for_only_where_it_is_needed(tmp_path: Path) -> None:
    async with companion(tmp_path, NO_TOOLS) as running:
        talker = await running.talker()
        edit(tmp_path / "lab.toml", f"[server]\nrequire_token = true\nport = 1\n{NO_TOOLS}")
        notice = await talker.until("notice")
        assert notice["code"] == "config_needs_restart"
        assert "server.port" in notice["message"]
        assert "require_token" not in notice["message"]
