"""The wheel's build hook: makes the page before the package is put together."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageBuildHook(BuildHookInterface[Any]):
    """Runs frontend/build.py, for wheels and editable installs alike; a fresh page is left as it is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        builder = _page_builder(Path(self.root))
        try:
            builder.build()
        except builder.BuildError as error:
            raise SystemExit(f"\n{error}\n") from None


def _page_builder(root: Path) -> ModuleType:
    # A build backend's sys.path doesn't hold the project.
    spec = importlib.util.spec_from_file_location("page_builder", root / "frontend" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
