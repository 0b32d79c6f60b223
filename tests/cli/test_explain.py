"""``pet explain`` as a process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent


def pet(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "server.cli", *arguments],
        input=stdin,
        capture_output=True,
        cwd=ROOT,
        check=False,
    )


def answers(done: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def lines(*objects: Any) -> bytes:
    return b"".join(json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in objects)


def test_a_text_is_explained_in_one_json_object() -> None:
    done = pet("explain", "我换环境了，你再描述一次")
    assert done.returncode == 0
    (answer,) = answers(done)
    assert set(answer) == {"route", "dependence", "resolved_refs"}
    assert set(answer["route"]) == {"path", "reasons"}
    assert set(answer["dependence"]) == {"dependent", "score", "reasons"}
    assert answer["dependence"]["dependent"] is True
    assert isinstance(answer["dependence"]["score"], float)
    assert answer["resolved_refs"] == []


def test_many_are_explained_line_by_line_with_their_state_and_context() -> None:
    state = {
        "last_url_ok": "https://example.org/read",
        "last_image_ref": "img_3",
        "last_search": [{"n": n, "title": f"T{n}", "url": f"https://example.org/{n}"} for n in (1, 2)],
        "open_question": None,
    }
    done = pet(
        "explain",
        "--stdin",
        stdin=lines(
            {"text": "第二个怎么样", "state": state},
            {"text": "what's playing?", "context": {"media": {"title": "Clair de lune", "x": 1}}},
            {"text": "PostgreSQL", "history": [{"role": "assistant", "text": "Which database?"}]},
            {"text": "你好", "history": ["hi"]},
        ),
    )
    assert done.returncode == 0, done.stderr
    second, playing, database, hello = answers(done)
    assert second["route"]["path"] == "tool"
    assert second["resolved_refs"] == [{"kind": "search_result", "value": "https://example.org/2"}]
    assert playing["route"] == {"path": "fast", "reasons": ["answer is in the media state"]}
    assert database["dependence"]["dependent"] is True
    assert hello["route"]["path"] == "fast"
    assert hello["dependence"]["dependent"] is False


def test_a_bad_line_is_answered_in_its_place_and_the_rest_goes_on() -> None:
    deep = b"[" * 100_000 + b"\n"
    done = pet(
        "explain",
        "--stdin",
        stdin=b"\xef\xbb\xbf"
        + lines({"text": "hi"})
        + b"no json\n\xff\xfe\n\n"
        + deep
        + lines(
            [], {"text": 1}, {}, {"text": "x", "history": 3}, {"text": "x", "state": {"last_search": [{}]}}
        )
        + b'{"text": "\\ud800 hello"}\n'
        + lines({"text": "bye"}).rstrip(b"\n"),
    )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    rows = answers(done)
    assert len(rows) == 12
    assert [index for index, row in enumerate(rows) if "error" in row] == list(range(1, 10))
    assert rows[9]["error"].startswith("state.last_search.0")
    assert rows[11]["route"]["path"] == "fast"


def test_neither_text_nor_stdin_is_a_usage_error() -> None:
    assert pet("explain").returncode == 2
    assert pet("explain", "hi", "--stdin").returncode == 2


def test_tools_are_off_where_the_config_says_so(tmp_path: Path) -> None:
    config = tmp_path / "lab.toml"
    config.write_text("[agent]\nenable_tools = false\n", encoding="utf-8")
    (answer,) = answers(pet("explain", "run the tests", "--config", str(config)))
    assert answer["route"] == {"path": "fast", "reasons": ["tools are off"]}


def test_it_starts_without_what_only_a_server_needs() -> None:
    code = (
        "import sys; from server.cli.explain import explain; explain('hi');"
        "heavy = ('openai', 'websockets', 'mcp', 'httpx2', 'PIL', 'numpy');"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, check=True)
    assert done.stdout.split() == [b"[]"]
