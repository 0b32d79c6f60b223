from __future__ import annotations

import re
import tomllib
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.pin import pins_of
from tests.bootstrap.conftest import ROOT

TEXT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
PROJECT: dict[str, Any] = tomllib.loads(TEXT)
UV = PROJECT["tool"]["uv"]


def declared() -> list[Requirement]:
    extras = PROJECT["project"]["optional-dependencies"].values()
    groups = PROJECT["dependency-groups"].values()
    return [
        Requirement(text)
        for texts in (PROJECT["project"]["dependencies"], *extras, *groups)
        for text in texts
    ]


def pins(key: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for text in UV[key]:
        (pin,) = Requirement(text).specifier
        assert pin.operator == "=="
        found.setdefault(canonicalize_name(Requirement(text).name), []).append(pin.version)
    return found


def test_each_declared_package_is_pinned_within_its_range() -> None:
    pinned = pins("constraint-dependencies")
    for requirement in declared():
        versions = pinned[canonicalize_name(requirement.name)]
        assert all(requirement.specifier.contains(version) for version in versions), requirement


def test_what_builds_the_package_is_pinned_within_its_range() -> None:
    pinned = pins("build-constraint-dependencies")
    for requirement in map(Requirement, PROJECT["build-system"]["requires"]):
        versions = pinned[canonicalize_name(requirement.name)]
        assert all(requirement.specifier.contains(version) for version in versions), requirement


def test_each_range_ends_before_the_next_major_version() -> None:
    for requirement in declared():
        bounds = {pin.operator for pin in requirement.specifier}
        assert bounds & {"<", "~=", "=="}, requirement


def test_the_project_file_names_no_package_index() -> None:
    assert not re.search(r"https?://", TEXT)
    assert "index" not in UV


def test_uv_run_brings_the_same_model_as_the_extra() -> None:
    assert PROJECT["dependency-groups"]["builtin"] == PROJECT["project"]["optional-dependencies"]["builtin"]
    assert "builtin" in UV["default-groups"]


def test_a_version_for_some_pythons_is_pinned_with_its_marker() -> None:
    index = {"registry": "somewhere"}
    lock = {
        "package": [
            {"name": "pet-mode", "version": "0.1.0", "source": {"editable": "."}},
            {
                "name": "b",
                "version": "2",
                "source": index,
                "resolution-markers": ["python_version >= '3.12'"],
            },
            {"name": "a", "version": "1", "source": index},
        ]
    }
    assert pins_of(lock) == ["a==1", "b==2 ; (python_version >= '3.12')"]
