"""frontend/build.py on small frontends of the tests' own, with the real npm."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from frontend import build

MAKE = (
    "const fs = require('fs'); const out = process.argv[process.argv.indexOf('--outDir') + 1];"
    "fs.mkdirSync(out, {recursive: true}); fs.copyFileSync('words.txt', out + '/index.html');"
)


@pytest.fixture
def frontend(tmp_path: Path) -> Path:
    folder = tmp_path / "前端 sources"
    folder.mkdir()
    package = {"name": "small", "version": "0.0.0", "private": True, "scripts": {"build": "node make.cjs"}}
    (folder / "package.json").write_text(json.dumps(package), encoding="utf-8")
    lock = {"name": "small", "version": "0.0.0", "lockfileVersion": 3, "packages": {"": {"name": "small"}}}
    (folder / "package-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    (folder / "make.cjs").write_text(MAKE, encoding="utf-8")
    (folder / "words.txt").write_text("one", encoding="utf-8")
    return folder


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "the page"


def test_page_is_made_once_and_again_when_a_source_changes(frontend: Path, page: Path) -> None:
    assert build.build(frontend, page)
    assert not build.build(frontend, page)
    (frontend / "words.txt").write_text("two", encoding="utf-8")
    assert build.build(frontend, page)
    assert (page / "index.html").read_text(encoding="utf-8") == "two"


def test_page_that_was_deleted_is_made_again(frontend: Path, page: Path) -> None:
    build.build(frontend, page)
    (page / "index.html").unlink()
    assert build.build(frontend, page)


def test_tests_of_the_page_are_none_of_its_sources(frontend: Path) -> None:
    before = build.fingerprint(frontend)
    for folder in ("tests", "node_modules", ".cache"):
        (frontend / folder).mkdir()
        (frontend / folder / "some.ts").write_text("", encoding="utf-8")
    assert build.fingerprint(frontend) == before


def test_name_of_a_source_counts_as_much_as_its_content(frontend: Path) -> None:
    before = build.fingerprint(frontend)
    (frontend / "words.txt").rename(frontend / "other.txt")
    assert build.fingerprint(frontend) != before


def test_scripts_find_the_node_of_the_package_before_any_other(
    frontend: Path, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "node").write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    (other / "node").chmod(0o755)
    monkeypatch.setenv("PATH", str(other), prepend=os.pathsep)
    assert build.build(frontend, page)


def test_failed_build_says_what_npm_said_and_leaves_no_fresh_page(frontend: Path, page: Path) -> None:
    build.build(frontend, page)
    (frontend / "make.cjs").write_text(
        "console.log('the reason');for (let i = 0; i < 99; i++) console.error('line ' + i); process.exit(7)",
        encoding="utf-8",
    )
    with pytest.raises(build.BuildError) as failed:
        build.build(frontend, page)
    said = str(failed.value)
    assert "npm run failed (exit code 7)" in said
    assert "the reason" in said
    assert "line 98" in said
    assert "line 50" not in said
    assert not build.is_fresh(frontend, page)


def test_lock_file_that_does_not_fit_is_refused(frontend: Path) -> None:
    package = json.loads((frontend / "package.json").read_text(encoding="utf-8"))
    package["dependencies"] = {"left-out-of-the-lock": "1.0.0"}
    (frontend / "package.json").write_text(json.dumps(package), encoding="utf-8")
    with pytest.raises(build.BuildError, match="npm ci failed"):
        build.install(frontend)


def test_missing_sources_are_named(tmp_path: Path) -> None:
    with pytest.raises(build.BuildError, match=r"no package\.json"):
        build.build(tmp_path / "none", tmp_path / "page")
