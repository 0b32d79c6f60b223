"""docs/configuration.md names every key of lab.toml with its default, and no other."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic_core import PydanticUndefined

from server.config.load import load
from server.config.schema import Config, ToolOverride
from server.config.table import Table

ROOT = Path(__file__).resolve().parent.parent.parent
_HEADING = re.compile(r"^### \[(.+)\]$")
_ROW = re.compile(r"^\| `([a-z_]+)` \| (`.*?`|–) \|")


def documented() -> dict[str, dict[str, str]]:
    tables: dict[str, dict[str, str]] = {}
    rows: dict[str, str] = {}
    for line in (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8").splitlines():
        if heading := _HEADING.match(line):
            rows = tables.setdefault(heading[1], {})
        elif row := _ROW.match(line):
            rows[row[1]] = row[2].strip("`")
    return tables


def tables_of(model: type[Table], path: str) -> Iterator[tuple[str, dict[str, object]]]:
    keys: dict[str, object] = {}
    for name, field in model.model_fields.items():
        here = f"{path}.{name}" if path else name
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, Table):
            yield from tables_of(inner, here)
        elif entry := table_of_names(inner):
            yield from tables_of(entry, f"{here}.NAME")
        else:
            keys[name] = (
                field.get_default(call_default_factory=True) if not field.is_required() else PydanticUndefined
            )
    if keys:
        yield path, keys


def table_of_names(annotation: Any) -> type[Table] | None:
    """The table that `dict[name, table]` holds."""
    if get_origin(annotation) is not dict:
        return None
    value = get_args(annotation)[1]
    return value if isinstance(value, type) and issubclass(value, Table) else None


def spelled(value: object) -> str:
    if value is None or value is PydanticUndefined:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return "[" + ", ".join(spelled(each) for each in value) + "]"
    return str(value)


def test_every_key_is_described_with_its_default() -> None:
    known = dict(tables_of(Config, ""))
    known['tools."NAME"'] = dict(next(tables_of(ToolOverride, ""))[1])
    assert documented() == {
        path: {name: spelled(default) for name, default in keys.items()} for path, keys in known.items()
    }


def test_the_file_that_ships_is_valid_and_leaves_the_roles_open() -> None:
    loaded = load(ROOT / "lab.toml").config
    shipped = {"ollama", "lmstudio", "builtin", "openai", "gemini", "deepseek", "openrouter"}
    assert loaded.llm.providers.keys() == shipped
    assert {loaded.agent.models.chat.provider, loaded.agent.models.tool.provider} == {""}
    assert loaded.workspace.path == ""


def test_the_file_that_ships_holds_no_key() -> None:
    providers = tomllib.loads((ROOT / "lab.toml").read_text(encoding="utf-8"))["llm"]["providers"]
    keys = [provider.get("api_key", "") for provider in providers.values()]
    assert all(key == "" or key.startswith("env:") for key in keys)


def test_examples_of_the_readmes_are_valid(tmp_path: Path) -> None:
    for name in ("README.md", "README.zh-CN.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        examples = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
        assert len(examples) == 3
        for example in examples:
            (tmp_path / "lab.toml").write_text(example, encoding="utf-8")
            load(tmp_path / "lab.toml")
