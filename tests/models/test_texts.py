from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2] / "server"
CATALOGUE = tomllib.loads((ROOT / "texts" / "models.toml").read_text(encoding="utf-8"))
SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "models").rglob("*.py"))


def test_every_text_that_is_used_exists_and_every_text_is_used() -> None:
    used = set(re.findall(r'"models\.([a-z_]+)"', SOURCE))
    used |= {f"{kind}{more}" for kind in ("failed", "refused") for more in ("", "_detail")}
    assert used == set(CATALOGUE)


def test_both_languages_name_the_same_things() -> None:
    for key, text in CATALOGUE.items():
        names = [set(re.findall(r"{(\w+)}", text[language])) for language in ("en", "zh")]
        assert names[0] == names[1], key
