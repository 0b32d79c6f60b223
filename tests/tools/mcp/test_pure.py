"""The parts of the MCP client that do no I/O: names, lines, the environment, results, schemas."""

from __future__ import annotations

import base64
import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import CallToolResult

from server.config.schema import Mcp, McpServer
from tools.contract import TOOL_NAME, DataPart, Part, PicturePart, TextPart, ToolFailure
from tools.mcp.http import is_loopback
from tools.mcp.launch import environment, plan_launch
from tools.mcp.lines import LineSplitter, TooLong
from tools.mcp.naming import public_names
from tools.mcp.reason import MAX_SAID, Down, Reason
from tools.mcp.results import converted
from tools.schema import DEEPEST, without_titles


def test_a_name_that_fits_stays_as_it_is() -> None:
    assert public_names("git", ["status", "log-1", "a_b"]) == {
        "git__a_b": "a_b",
        "git__log-1": "log-1",
        "git__status": "status",
    }


def test_names_that_do_not_fit_are_made_to_and_stay_apart() -> None:
    odd = ["read file", "read.file", "read_file", "文件", "x" * 200, "x" * 201, "", "_b", "a/../b"]
    names = public_names("s", odd)
    assert sorted(names.values()) == sorted(odd)
    assert all(TOOL_NAME.fullmatch(name) and name.startswith("s__") for name in names)
    assert names["s__read_file"] == "read_file"
    assert names == public_names("s", reversed(odd))


def test_a_tool_cannot_take_the_name_that_another_is_made_to_have() -> None:
    (made,) = public_names("s", ["a b"])
    names = public_names("s", ["a b", made.removeprefix("s__")])
    assert len(names) == 2
    assert names[made] == made.removeprefix("s__")


def test_servers_whose_names_differ_by_an_underscore_do_not_share_tools() -> None:
    assert not public_names("a", ["_b"]).keys() & public_names("a_", ["b"]).keys()


@given(st.from_regex(r"[A-Za-z0-9-]{1,40}", fullmatch=True), st.sets(st.text(max_size=120), max_size=30))
def test_any_names_become_as_many_allowed_ones(server: str, tools: set[str]) -> None:
    names = public_names(server, tools)
    assert set(names.values()) == tools
    assert all(TOOL_NAME.fullmatch(name) for name in names)


@given(st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line), max_size=8), st.data())
def test_lines_are_the_same_wherever_the_stream_is_cut(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    splitter = LineSplitter(100)
    found: list[bytes | TooLong] = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += splitter.feed(stream[:size])
        stream = stream[size:]
    assert found == lines


def test_a_line_that_is_too_long_is_dropped_but_names_what_it_answers() -> None:
    splitter = LineSplitter(1000)
    long = b'{"jsonrpc":"2.0","id":7,"result":"' + b"x" * 5000 + b'"}'
    fed = [splitter.feed(part) for part in (long[:700], long[700:1500], long[1500:] + b"\n", b"next\n")]
    (too_long, following) = [line for lines in fed for line in lines]
    assert isinstance(too_long, TooLong)
    assert too_long.answers() == 7
    assert following == b"next"


@pytest.mark.parametrize(
    ("head", "tail", "answers"),
    [
        (b'{"jsonrpc": "2.0", "id": "abc", "result": {', b"xxx", "abc"),
        (b'{"result":{"id":3,', b'xx"},"jsonrpc":"2.0","id":4}', 4),
        (b'{"result":{"id":3,', b'xx"},"id":"q","jsonrpc":"2.0"}\r', "q"),
        (b'{"jsonrpc":"2.0","method":"x","params":{"id":3', b'"}}', None),
        (b'{"jsonrpc":"2.0","id":null,', b'"}', None),
    ],
)
def test_the_request_that_a_long_message_answers_is_found_at_either_end(
    head: bytes, tail: bytes, answers: int | str | None
) -> None:
    assert TooLong(head, tail).answers() == answers


def test_a_server_sees_of_our_environment_only_what_it_needs_to_run() -> None:
    ours = {"PATH": "/bin", "LC_ALL": "C", "SystemRoot": "C:\\Windows", "HOME": "/h"}
    secret = {
        "OPENAI_API_KEY": "sk-1",
        "LD_PRELOAD": "x",
        "HTTPS_PROXY": "http://me:pw@p",
        "PYTHONPATH": "/x",
    }
    assert environment(ours | secret) == ours


def test_what_is_configured_is_added_and_env_names_a_variable_of_ours(tmp_path: Path) -> None:
    settings = McpServer(command="python", env={"A": "b", "TOKEN": "env:MINE"})
    launch = plan_launch(settings, tmp_path, {"MINE": "hunter22", "OTHER": "x"})
    assert launch.env == {"A": "b", "TOKEN": "hunter22"}
    assert launch.secrets == ("hunter22",)
    assert launch.argv == (sys.executable,)
    assert launch.cwd == tmp_path
    assert "hunter22" not in repr(launch)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (McpServer(command="no-such-program-anywhere"), "mcp.not_found"),
        (McpServer(command="./missing"), "mcp.not_found"),
        (McpServer(command="python", cwd="missing"), "mcp.no_folder"),
        (McpServer(command="python", env={"A": "env:NOT_SET"}), "mcp.no_variable"),
    ],
)
def test_what_is_missing_is_named_before_anything_is_started(
    settings: McpServer, text: str, tmp_path: Path
) -> None:
    with pytest.raises(Down) as down:
        plan_launch(settings, tmp_path, {"PATH": ""})
    assert down.value.reason.text == text
    for locale in ("en", "zh-CN"):
        assert str(tmp_path) not in down.value.reason.render(locale)


def test_a_program_beside_lab_toml_is_found_from_there(tmp_path: Path) -> None:
    name = "srv.bat" if sys.platform == "win32" else "srv"
    program = tmp_path / "bin" / name
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    launch = plan_launch(McpServer(command=f"bin/{name}", args=("x",)), tmp_path, {})
    assert launch.argv == (str(tmp_path / "bin" / name), "x")


def test_our_own_servers_are_found_wherever_the_companion_runs(tmp_path: Path) -> None:
    settings = McpServer(command="python", args=("-m", "mcp_servers.timeemi"))
    launch = plan_launch(settings, tmp_path, {})
    assert (launch.cwd / "mcp_servers" / "timeemi").is_dir()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:9000/mcp", True),
        ("http://[::1]:9000/mcp", True),
        ("http://localhost/mcp", True),
        ("https://mcp.example/mcp", False),
        ("http://192.168.1.4/mcp", False),
    ],
)
def test_only_addresses_of_this_machine_count_as_loopback(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected


def answer(*content: dict[str, Any], data: Any = None, error: bool = False) -> CallToolResult:
    return CallToolResult.model_validate(
        {"content": list(content), "structuredContent": data, "isError": error}
    )


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


PNG = b"\x89PNG not really"


@pytest.mark.parametrize(
    ("given_answer", "parts"),
    [
        (answer(text("a"), text("b")), [TextPart("a"), TextPart("b")]),
        (answer(), [TextPart("(an empty answer)")]),
        (answer(text('{"a": 1}'), data={"a": 1}), [DataPart({"a": 1})]),
        (answer(text("seen"), data={"a": 1}), [TextPart("seen"), DataPart({"a": 1})]),
        (answer(text("plain"), data={"result": "plain"}), [TextPart("plain")]),
        (answer(text("2"), data={"result": 2}), [TextPart("2")]),
        (answer(text("[1, 2]"), data={"result": [1, 2]}), [DataPart({"result": [1, 2]})]),
        (
            answer({"type": "image", "data": base64.b64encode(PNG).decode(), "mimeType": "image/PNG"}),
            [PicturePart(PNG, "image/png")],
        ),
        (
            answer({"type": "image", "data": "PHN2Zz4=", "mimeType": "image/svg+xml"}),
            [TextPart("(a picture of type image/svg+xml, which can't be shown here)")],
        ),
        (
            answer({"type": "image", "data": "A", "mimeType": "image/png"}),
            [TextPart("(a picture that can't be read)")],
        ),
        (
            answer({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}),
            [TextPart("(a sound of type audio/wav, which can't be heard here)")],
        ),
        (
            answer({"type": "resource", "resource": {"uri": "file:///x", "text": "inside"}}),
            [TextPart("inside")],
        ),
        (
            answer({"type": "resource_link", "uri": "file:///x", "name": "x", "description": "an x"}),
            [TextPart("(a resource, x, at file:///x: an x)")],
        ),
    ],
)
def test_each_kind_of_content_has_its_part(given_answer: CallToolResult, parts: list[Part]) -> None:
    assert list(converted(given_answer).parts) == parts


def test_numbers_that_json_has_not_become_words() -> None:
    (part,) = converted(answer(data={"a": [math.nan, math.inf, 1.5]})).parts
    assert isinstance(part, DataPart)
    assert json.dumps(part.value, allow_nan=False) == '{"a": ["nan", "inf", 1.5]}'


def test_an_answer_that_says_error_is_a_short_failure_without_stack_path_and_key() -> None:
    said = (
        "Error: no such file /home/me/private/x.txt\n    at open (node:fs:12:3)\n    at /srv/app/run.js:4\n"
        'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in f\nAPI_KEY=hunter22\n'
        + "y"
        * 5000
    )
    with pytest.raises(ToolFailure) as failure:
        converted(answer(text(said), error=True))
    message = str(failure.value)
    assert message.startswith("Error: no such file x.txt\nAPI_KEY=•••\nyyy")
    assert len(message) <= 1000
    assert "Traceback" not in message
    assert " at " not in message


def test_a_failure_without_words_says_so() -> None:
    with pytest.raises(ToolFailure, match="didn't say why"):
        converted(answer(error=True))


def test_schemas_lose_the_titles_of_generators_but_no_property_and_no_value() -> None:
    schema = {
        "title": "fooArguments",
        "type": "object",
        "properties": {
            "title": {"title": "Title", "type": "string", "default": {"title": "kept"}},
            "items": {"title": "Items", "type": "array", "items": {"title": "Item", "type": "string"}},
        },
        "$defs": {"title": {"title": "T", "type": "null"}},
        "anyOf": [{"title": "One", "required": ["title"]}],
    }
    assert without_titles(schema) == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "default": {"title": "kept"}},
            "items": {"type": "array", "items": {"type": "string"}},
        },
        "$defs": {"title": {"type": "null"}},
        "anyOf": [{"required": ["title"]}],
    }


def test_a_schema_that_is_nested_without_end_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(DEEPEST * 100):
        schema = {"items": schema}
    with pytest.raises(ValueError, match="deep"):
        without_titles(schema)


def test_a_reason_carries_the_last_words_to_the_owner_and_one_line_to_the_model() -> None:
    reason = Reason("mcp.exited", {"code": 3}).saying("a\n" * MAX_SAID + "Error: no key")
    assert reason.render("en").startswith("It ended with exit code 3.\nIt last said:\n")
    assert reason.render("zh-CN").startswith("它已退出")
    assert len(reason.said) == MAX_SAID
    assert reason.for_model() == "It ended with exit code 3. It last said: Error: no key"


def test_the_configuration_refuses_the_names_of_our_own_tools() -> None:
    for name in ("vision", "tool", "git", "tests", "lint", "page", "media", "site"):
        with pytest.raises(ValueError, match="reserved_name"):
            Mcp(servers={name: McpServer(command="x")})
