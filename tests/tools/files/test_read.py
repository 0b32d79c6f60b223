"""The tool on real files, links, pipes and swaps."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import threading
from pathlib import Path

import pytest

from server.config.store import ConfigStore
from tests.support.calls import Context
from tools.contract import TextPart, ToolFailure, ToolResult
from tools.files import file_tools, place
from tools.files.place import locate, open_inside

POSIX_ONLY = pytest.mark.skipif("sys.platform == 'win32'", reason="needs links and pipes")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace beside a secret."""
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.py").write_text("import os\n\nprint('你好')\n", encoding="utf-8")
    (folder / "README.md").write_text("# Project\n", encoding="utf-8")
    (tmp_path / "outside.txt").write_text("a secret of somebody else\n", encoding="utf-8")
    return folder


def store_for(root: Path, *, workspace: str = "project", more: str = "") -> ConfigStore:
    path = root.parent / "lab.toml"
    path.write_text(f'[workspace]\npath = "{workspace}"\n{more}', encoding="utf-8")
    return ConfigStore(path, root.parent / "data")


async def read(root: Path, path: str, *, store: ConfigStore | None = None, **lines: int) -> ToolResult:
    (tool,) = file_tools(store or store_for(root))
    async with asyncio.timeout(30):
        return await tool.call({"path": path, **lines}, Context())


async def text_of(root: Path, path: str, **lines: int) -> str:
    (part,) = (await read(root, path, **lines)).parts
    assert isinstance(part, TextPart)
    return part.text


async def failure_of(root: Path, path: str, *, store: ConfigStore | None = None, **lines: int) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        await read(root, path, store=store, **lines)
    assert str(root.parent) not in str(caught.value)
    assert "secret of somebody" not in str(caught.value)
    return caught.value


async def test_a_file_is_shown_with_line_numbers(root: Path) -> None:
    result = await read(root, "src/app.py")
    assert result.parts == (TextPart("src/app.py, lines 1 to 3 of 3:\n1| import os\n2| \n3| print('你好')"),)
    assert result.findings.file == "src/app.py"


@pytest.mark.parametrize("path", ["./src/app.py", "src\\app.py", "src/../src/app.py", "`src/app.py`"])
async def test_other_spellings_name_the_same_file(root: Path, path: str) -> None:
    assert (await read(root, path)).findings.file == "src/app.py"


async def test_an_absolute_path_inside_is_fine(root: Path) -> None:
    assert (await read(root, str(root / "src" / "app.py"))).findings.file == "src/app.py"


async def test_a_line_behind_the_path_is_where_it_begins(root: Path) -> None:
    assert (await text_of(root, "src/app.py:3")).endswith("of 3:\n3| print('你好')")


async def test_a_range_of_lines(root: Path) -> None:
    (root / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 1001)), encoding="utf-8")
    told = await text_of(root, "long.txt", start_line=99, end_line=101)
    assert told == "long.txt, lines 99 to 101 of 1000:\n 99| line 99\n100| line 100\n101| line 101"


async def test_a_long_file_says_where_to_go_on(root: Path) -> None:
    (root / "long.txt").write_text("0123456789\n" * 5000, encoding="utf-8")
    told = await text_of(root, "long.txt")
    assert len(told) < 20_000
    assert "of 5000; there was no room for more: go on with start_line" in told


async def test_a_range_behind_the_end_is_explained(root: Path) -> None:
    assert "has only 3 lines" in str(await failure_of(root, "src/app.py", start_line=50))
    assert "before start_line" in str(await failure_of(root, "src/app.py", start_line=5, end_line=2))


async def test_an_empty_file_is_said_to_be_empty(root: Path) -> None:
    (root / "empty").touch()
    assert await text_of(root, "empty") == "empty is empty."


@pytest.mark.parametrize(
    "path", ["../outside.txt", "src/../../outside.txt", "/etc/passwd", "/nonexistent/x", "../nonexistent"]
)
async def test_nothing_outside_is_read_nor_is_its_existence_told(root: Path, path: str) -> None:
    assert str(await failure_of(root, path)) == "it lies outside the workspace, and nothing there is read"


async def test_a_folder_with_the_workspace_s_name_as_its_beginning_is_outside(root: Path) -> None:
    twin = root.parent / "project-secret"
    twin.mkdir()
    (twin / "x.txt").write_text("a secret of somebody else", encoding="utf-8")
    await failure_of(root, "../project-secret/x.txt")
    await failure_of(root, str(twin / "x.txt"))


@POSIX_ONLY
async def test_links_are_followed_inside_and_never_outside(root: Path) -> None:
    (root / "inner").symlink_to("src")
    (root / "leak.txt").symlink_to("../outside.txt")
    (root / "up").symlink_to("..")
    (root / "loop").symlink_to("loop")
    assert (await read(root, "inner/app.py")).findings.file == "src/app.py"
    for path in ("leak.txt", "up/outside.txt"):
        assert "outside the workspace" in str(await failure_of(root, path))
    assert "can't be followed" in str(await failure_of(root, "loop"))


@POSIX_ONLY
async def test_a_link_to_a_secret_inside_is_refused(root: Path) -> None:
    (root / ".env").write_text("KEY=secret of somebody", encoding="utf-8")
    (root / "harmless.txt").symlink_to(".env")
    assert (await failure_of(root, "harmless.txt")).denied


@POSIX_ONLY
async def test_a_workspace_that_is_a_link_works(root: Path) -> None:
    (root.parent / "alias").symlink_to("project")
    store = store_for(root, workspace="alias")
    for path in ("src/app.py", str(root.parent / "alias" / "src" / "app.py"), str(root / "src" / "app.py")):
        assert (await read(root, path, store=store)).findings.file == "src/app.py"


@pytest.mark.parametrize("name", [".env", ".git/config", "id_rsa", "server.pem", "secrets.toml"])
async def test_secret_files_are_refused_by_name(root: Path, name: str) -> None:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text("secret of somebody", encoding="utf-8")
    failure = await failure_of(root, name)
    assert failure.denied
    assert "holds secrets" in str(failure)


async def test_the_companion_s_own_configuration_is_refused(root: Path) -> None:
    failure = await failure_of(root, "lab.toml", store=store_for(root, workspace="."))
    assert failure.denied


@pytest.mark.parametrize("name", ["a.png", "data.bin"])
async def test_binary_files_are_refused_by_name(root: Path, name: str) -> None:
    (root / name).write_bytes(b"text")
    assert "holds no text" in str(await failure_of(root, name))


async def test_binary_files_are_refused_by_content(root: Path) -> None:
    (root / "program").write_bytes(b"\x7fELF\0\0\0")
    assert "holds no text" in str(await failure_of(root, "program"))


@POSIX_ONLY
async def test_a_pipe_is_refused_at_once(root: Path) -> None:
    os.mkfifo(root / "pipe.txt")
    assert "no ordinary file" in str(await failure_of(root, "pipe.txt"))


async def test_a_folder_tells_what_is_in_it(root: Path) -> None:
    assert str(await failure_of(root, ".")) == "that is a folder; in it: README.md, src/"


async def test_a_file_used_as_a_folder_is_not_found(root: Path) -> None:
    assert "no such file" in str(await failure_of(root, "README.md/x"))


@pytest.mark.parametrize(
    ("asked", "suggested"),
    [
        ("app.py", "src/app.py"),
        ("src/ap.py", "src/app.py"),
        ("SRC2/App.py", "src/app.py"),
        ("readme.txt", "README.md"),
    ],
)
async def test_near_names_are_suggested(root: Path, asked: str, suggested: str) -> None:
    failure = await failure_of(root, asked)
    if sys.platform == "linux":
        assert str(failure) == f"there is no such file in the workspace; did you mean {suggested}?"


async def test_suggestions_skip_what_git_ignores_and_secrets(root: Path) -> None:
    (root / ".gitignore").write_text("build/\n*.log\n", encoding="utf-8")
    for name in (
        "build/wanted.txt",
        "node_modules/wanted.txt",
        "x/wanted.log",
        "x/wanted.key",
        "x/wanted.tXt",
    ):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).touch()
    assert str(await failure_of(root, "wanted.txt")).endswith("did you mean x/wanted.tXt?")


async def test_nothing_near_suggests_nothing(root: Path) -> None:
    assert str(await failure_of(root, "zzz.qqq")) == "there is no such file in the workspace"


async def test_a_workspace_below_a_folder_of_secrets_can_be_read_by_its_absolute_path(root: Path) -> None:
    inner = root.parent / ".docker" / "project"
    inner.mkdir(parents=True)
    (inner / "a.txt").write_text("x", encoding="utf-8")
    result = await read(root, str(inner / "a.txt"), store=store_for(root, workspace=".docker/project"))
    assert result.findings.file == "a.txt"


async def test_without_a_workspace_it_is_said_how_to_set_one(root: Path) -> None:
    failure = await failure_of(root, "README.md", store=store_for(root, workspace=""))
    assert "lab.toml" in str(failure)
    assert "[workspace] path" in str(failure)


async def test_a_workspace_that_is_gone_is_told(root: Path) -> None:
    shutil.rmtree(root)
    assert str(await failure_of(root, "README.md")) == "the workspace's folder isn't there"


async def test_what_was_switched_off_since_it_was_offered_is_not_done(root: Path) -> None:
    failure = await failure_of(root, "README.md", store=store_for(root, more="[tools]\nfiles = false\n"))
    assert failure.denied


@POSIX_ONLY
def test_a_folder_swapped_for_a_link_after_the_check_leads_nowhere(root: Path) -> None:
    (root.parent / "app.py").write_text("a secret of somebody else", encoding="utf-8")
    parts = locate(root, "src/app.py")
    shutil.rmtree(root / "src")
    (root / "src").symlink_to("..")
    with pytest.raises(ToolFailure, match="changed while"):
        open_inside(root, parts)


@POSIX_ONLY
def test_a_file_swapped_for_a_link_after_the_check_leads_nowhere(root: Path) -> None:
    parts = locate(root, "src/app.py")
    (root / "src" / "app.py").unlink()
    (root / "src" / "app.py").symlink_to("../../outside.txt")
    with pytest.raises(ToolFailure, match="changed while"):
        open_inside(root, parts)


@POSIX_ONLY
def test_a_file_swapped_for_a_pipe_after_the_check_does_not_hang(root: Path) -> None:
    parts = locate(root, "src/app.py")
    (root / "src" / "app.py").unlink()
    os.mkfifo(root / "src" / "app.py")
    with pytest.raises(ToolFailure, match="no ordinary file"):
        open_inside(root, parts)


@POSIX_ONLY
def test_no_swap_at_any_moment_leaks(root: Path) -> None:
    """Somebody swaps the folder for a link to the outside and back, as fast as possible."""
    (root.parent / "app.py").write_text("a secret of somebody else", encoding="utf-8")
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            (root / "src").rename(root / "real")
            (root / "src").symlink_to("..")
            (root / "src").unlink()
            (root / "real").rename(root / "src")

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for _ in range(1000):
            try:
                with open_inside(root, locate(root, "src/app.py")) as file:
                    assert b"secret" not in file.read()
            except ToolFailure:
                continue
    finally:
        done.set()
        swapper.join()


@POSIX_ONLY
async def test_reading_that_hangs_can_be_cancelled(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    monkeypatch.setattr("tools.files.read.locate", lambda root, path: go.wait(30))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await file_tools(store_for(root))[0].call({"path": "README.md"}, Context())
    go.set()


def test_only_ordinary_spellings_reach_the_file_system(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place.Path, "resolve", lambda *_, **__: pytest.fail("it was looked at"))
    for path in ("//server/share/x.txt", "\\\\server\\share\\x.txt", ".env", "a\0b"):
        with pytest.raises(ToolFailure):
            locate(root, path)
