"""``pet doctor`` where something is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.fakes.openai_server import ScriptedProvider
from tests.support.companion import lab_toml
from tests.support.process import places, run_pet


async def examined(folder: Path, config: str) -> tuple[int, dict[tuple[str, str], dict[str, Any]], str]:
    """Exit status, findings by subject and name, stderr."""
    (folder / "lab.toml").write_text(config, encoding="utf-8")
    status, out, err = await run_pet("doctor", "--json", *places(folder))
    report = json.loads(out)
    assert report["ok"] == (status == 0)
    return status, {(found["subject"], found["name"]): found for found in report["findings"]}, err


async def test_a_model_that_its_provider_does_not_have_is_broken(tmp_path: Path) -> None:
    async with ScriptedProvider(models=["other"]) as provider:
        status, findings, err = await examined(tmp_path, lab_toml(provider.base_url, "no-such-model"))
    assert status == 1
    assert findings["provider", "scripted"]["verdict"] == "ok"
    assert findings["role", "chat"]["verdict"] == "broken"
    assert "no-such-model" in findings["role", "chat"]["message"]
    assert err == ""


async def test_the_roles_of_a_provider_that_refuses_the_key_are_broken_too(tmp_path: Path) -> None:
    async with ScriptedProvider(api_key="right") as provider:
        status, findings, _ = await examined(tmp_path, lab_toml(provider.base_url))
    assert status == 1
    assert {findings["role", role]["verdict"] for role in ("chat", "tool")} == {"broken"}


async def test_the_roles_of_a_provider_that_is_down_are_broken_too(tmp_path: Path) -> None:
    async with ScriptedProvider() as provider:
        config = lab_toml(provider.base_url)
    status, findings, _ = await examined(tmp_path, config)
    assert status == 1
    assert {findings["role", role]["verdict"] for role in ("chat", "tool")} == {"broken"}


async def test_json_comes_also_where_the_data_folder_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file in the way")
    status, findings, err = await examined(tmp_path, "")
    assert status == 1
    assert findings["data folder", "data"]["verdict"] == "broken"
    assert err == ""


async def test_a_damaged_chat_is_broken_and_left_as_it_is(tmp_path: Path) -> None:
    async with ScriptedProvider() as provider:
        (tmp_path / "data").mkdir()
        path = tmp_path / "data" / "pet.db"
        path.write_bytes(b"no database" * 1000)
        status, findings, _ = await examined(tmp_path, lab_toml(provider.base_url))
    assert status == 1
    assert findings["data folder", "data"]["verdict"] == "broken"
    assert path.read_bytes() == b"no database" * 1000
