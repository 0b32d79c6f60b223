"""The example of docs/writing-a-tool.md is a tool that works as the page says."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from server.config.store import ConfigStore
from tests.support.calls import Context
from tools.contract import TextPart, ToolFailure
from tools.registry import Registry

PAGE = Path(__file__).parents[2] / "docs" / "writing-a-tool.md"


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    code = re.search(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert code is not None
    path = tmp_path / "weather.py"
    path.write_text(code.group(1), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("weather", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "weather", module)
    spec.loader.exec_module(module)
    return module


async def test_the_example_is_registered_by_one_line_and_answers(example: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_text("", encoding="utf-8")
    registry = Registry(ConfigStore(tmp_path / "lab.toml", tmp_path))
    exec("registry.add(tomorrow)", {"registry": registry, **example.__dict__})
    (info,) = registry.tools()
    assert info.name == "weather__tomorrow"
    assert info.hint.startswith("Try the city's English name")
    assert info.input_schema == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "city": {"type": "string", "description": "The city's name.", "minLength": 1, "maxLength": 80},
            "unit": {
                "type": "string",
                "const": "celsius",
                "default": "celsius",
                "description": "The unit of the temperature.",
            },
        },
        "required": ["city"],
    }
    tool = registry.get("weather__tomorrow")
    assert tool is not None
    result = await tool.call({"city": "Lisbon"}, Context())
    assert result.parts == (TextPart("Tomorrow in Lisbon: sunny, 21 °C."),)
    with pytest.raises(ToolFailure, match=r"doesn't know Atlantis. It knows: lisbon, bergen\."):
        await tool.call({"city": "Atlantis"}, Context())
    with pytest.raises(ToolFailure, match=r"^Wrong arguments: city: .*; town: "):
        await tool.call({"town": "x"}, Context())


def test_the_table_for_an_mcp_server_is_a_valid_one(tmp_path: Path) -> None:
    table = re.search(r"^```toml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert table is not None
    (tmp_path / "lab.toml").write_text(table.group(1), encoding="utf-8")
    assert "weather" in ConfigStore(tmp_path / "lab.toml", tmp_path).config.mcp.servers
