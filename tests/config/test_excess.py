"""A lab.toml that is wrong a thousand times, or isn't one at all: told briefly, and nobody waits for it."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from server.config import store as store_module
from server.config.check import check
from server.config.load import MAX_BYTES, load
from server.config.problems import ConfigError, Problem, fewer
from server.config.schema import Config
from server.config.store import ConfigStore
from server.config.toml_text import scan


def refusal(path: Path, text: str) -> ConfigError:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load(path)
    return caught.value


def test_of_very_many_problems_the_first_are_named_and_the_others_counted(tmp_path: Path) -> None:
    error = refusal(tmp_path / "lab.toml", "[chat]\n" + "".join(f"k{i} = 1\n" for i in range(12_000)))
    lines = str(error).splitlines()
    assert [line.split(":")[1] for line in lines[:-1]] == [str(line) for line in range(2, 22)]
    assert lines[-1] == "lab.toml: and 11980 more problems; correct these first"
    assert "另有 11980 处问题" in error.render("zh-CN")


def test_counting_what_was_counted_already_loses_nothing() -> None:
    problems = [Problem("lab.toml", line, "", "not_text", "not_text_fix") for line in range(1, 31)]
    assert fewer(fewer(problems, 20), 3)[-1].params == {"count": 27}
    assert fewer(problems[:4], 3) == problems[:4]


def test_an_old_file_is_known_as_such_however_much_is_wrong_before_it(tmp_path: Path) -> None:
    wrong = "".join(f"k{i} = 1\n" for i in range(100))
    assert refusal(tmp_path / "lab.toml", f"[chat]\n{wrong}[agent.llm]\nmodel = 'x'\n").old_form


def test_a_line_is_found_without_walking_the_text_anew(tmp_path: Path) -> None:
    layout = scan("[chat]\n" + "".join(f"k{i} = 1\n" for i in range(1_000)))
    assert [layout.line(("chat", f"k{i}")) for i in range(1_000)] == list(range(2, 1_002))
    layout.text, layout.entries = "", []
    assert layout.line(("chat", "k999")) == 1_001


def test_a_key_of_endless_parts_is_told_at_its_line(tmp_path: Path) -> None:
    error = refusal(tmp_path / "lab.toml", f"[chat]\n{'.'.join('a' * 3_000)} = 1\n")
    assert [(problem.line, problem.key) for problem in error.problems] == [(2, "chat.a")]


def test_names_of_any_length_are_shortened_in_messages(tmp_path: Path) -> None:
    long = "k" * 100_000
    for text in (
        f"[chat]\n{long} = 1\n",
        f'[chat]\n"{long} " = 1\n',
        f'[agent.models.chat]\nprovider = "{long}"\n',
        f"[chat]\n{long} = 1\n{long} = 2\n",
    ):
        assert len(str(refusal(tmp_path / "lab.toml", text))) < 1_000


def test_roles_and_providers_without_number_are_checked_in_one_pass() -> None:
    names = {f"p{i}": {"base_url": "http://x"} for i in range(20_000)}
    roles = {f"r{i}": {"provider": "gone"} for i in range(20_000)}
    _, findings = check({"llm": {"providers": names}, "agent": {"models": roles}})
    assert {item.kind for item in findings} == {"unknown_key"}
    _, findings = check({"llm": {"providers": names}, "agent": {"models": {"chat": {"provider": "gone"}}}})
    assert len(str(findings[0].params["known"])) < 1_000


def test_a_file_over_one_mebibyte_is_refused_with_words(tmp_path: Path) -> None:
    path = tmp_path / "lab.toml"
    path.write_text("#" * MAX_BYTES, encoding="utf-8")
    assert load(path).config == Config()
    error = refusal(path, "#" * (MAX_BYTES + 1))
    assert str(error).startswith("lab.toml: the file is larger than 1 MiB; ")


def test_a_notice_names_few_problems(tmp_path: Path) -> None:
    store = opened(tmp_path)
    told: list[str] = []
    store.on_problem(lambda trouble: told.append(trouble.message("en")))
    store.path.write_text("".join(f"k{i} = 1\n" for i in range(12_000)), encoding="utf-8")
    asyncio.run(store.reload())
    assert told[0].count("unknown key") == 3
    assert told[0].endswith("lab.toml: and 11997 more problems; correct these first")


async def test_the_loop_goes_on_and_may_end_while_a_file_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checking, go = threading.Event(), threading.Event()

    def slow(*_: Any) -> Config:
        checking.set()
        go.wait(30)
        return Config()

    monkeypatch.setattr(store_module, "validate", slow)
    store = opened(tmp_path)
    store.path.write_text("[chat]\n", encoding="utf-8")
    watching = asyncio.create_task(store.watch(poll_s=0.01))
    async with asyncio.timeout(10):
        await asyncio.to_thread(checking.wait, 10)
        watching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watching
    assert [thread.daemon for thread in threading.enumerate() if thread.name == "reading lab.toml"] == [True]
    go.set()


def opened(folder: Path) -> ConfigStore:
    path = folder / "lab.toml"
    path.write_text("", encoding="utf-8")
    return ConfigStore(path, folder / "data")
