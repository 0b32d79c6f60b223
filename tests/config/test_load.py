"""Reading lab.toml: what is valid, and how each mistake is named."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from server.config.check import check, known_keys
from server.config.load import Loaded, load
from server.config.problems import ConfigError, Problem, dotted
from server.config.schema import Config
from server.messages import render

HERE = Path(__file__).parent
SHIPPED = HERE.parent.parent / "lab.toml"


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "lab.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def problems(folder: Path, text: str | bytes) -> list[Problem]:
    with pytest.raises(ConfigError) as caught:
        load(write(folder, text))
    return caught.value.problems


def only(folder: Path, text: str | bytes) -> Problem:
    found = problems(folder, text)
    assert len(found) == 1, [str(problem) for problem in found]
    return found[0]


def loaded(folder: Path, text: str | bytes) -> Config:
    return load(write(folder, text)).config


def test_an_empty_file_means_every_default(tmp_path: Path) -> None:
    config = loaded(tmp_path, "")
    assert config == Config()
    assert (config.server.host, config.server.port) == ("127.0.0.1", 12393)
    assert config.chat.temperature == 0.7
    assert config.workspace.path == ""
    assert config.workspace.test_command == ()


def test_an_empty_file_knows_the_providers_of_the_documentation(tmp_path: Path) -> None:
    providers = loaded(tmp_path, "").llm.providers
    assert list(providers) == ["ollama", "lmstudio", "builtin", "openai"]
    assert providers["builtin"].builtin
    assert not providers["ollama"].builtin
    assert providers["openai"].api_key == "env:OPENAI_API_KEY"


def test_a_provider_table_completes_its_defaults(tmp_path: Path) -> None:
    providers = loaded(tmp_path, '[llm.providers.openai]\napi_key = "sk-1"\n').llm.providers
    assert providers["openai"].base_url == "https://api.openai.com/v1"
    assert providers["openai"].api_key == "sk-1"


def test_every_key_of_the_documentation_is_known(tmp_path: Path) -> None:
    (tmp_path / "personas").mkdir()
    (tmp_path / "prompts").mkdir()
    (tmp_path / "personas/tama.md").write_text("You are Tama.", encoding="utf-8")
    (tmp_path / "prompts/tool_router.md").write_text("Choose.", encoding="utf-8")
    config = loaded(tmp_path, (HERE / "every_key.toml").read_bytes())
    assert config.agent.models.chat.model == "gpt-5.2"
    assert config.avatar.motions["nod"].group == "Nod"
    assert config.mcp.servers["timeemi"].args == ("-m", "mcp_servers.timeemi")


def test_defaults_are_those_that_the_documentation_shows(tmp_path: Path) -> None:
    shown = (HERE / "every_key.toml").read_text(encoding="utf-8")
    examples = (
        r"\[agent\.models\.\w+\]|\[agent\.prompts\]|\[workspace\]|\[avatar\.\w+\]|\[mcp\.servers\.\w+\]"
    )
    sections = re.split(r"^(?=\[)", shown, flags=re.MULTILINE)
    settings = "".join(section for section in sections if not re.match(examples, section))
    assert loaded(tmp_path, settings) == Config()


def test_the_file_that_ships_is_valid_and_leaves_the_roles_open() -> None:
    config = load(SHIPPED).config
    assert {config.agent.models.role(role).provider for role in ("chat", "tool", "vision")} == {""}
    assert set(config.llm.providers) == {
        "ollama", "lmstudio", "builtin", "openai", "gemini", "deepseek", "openrouter",
    }  # fmt: skip
    assert config.workspace.path == ""


def test_the_revision_is_the_sha256_of_the_bytes(tmp_path: Path) -> None:
    raw = b"\xef\xbb\xbf[chat]\r\ntemperature = 1\r\n"
    path = write(tmp_path, raw)
    assert load(path) == Loaded(load(path).config, hashlib.sha256(raw).hexdigest(), path)


def test_a_byte_order_mark_and_windows_line_ends_are_tolerated(tmp_path: Path) -> None:
    assert loaded(tmp_path, b"\xef\xbb\xbf[chat]\r\ntemperature = 1\r\n").chat.temperature == 1.0


def test_lines_are_right_with_windows_line_ends(tmp_path: Path) -> None:
    assert only(tmp_path, b"# one\r\n\r\n[chat]\r\ntemprature = 1\r\n").line == 4


def test_an_unknown_key_is_named_with_its_line_and_the_nearest_known_one(tmp_path: Path) -> None:
    text = "# a\n[agent.models.chat]\nmodle = 'x'\n"
    with pytest.raises(ConfigError) as caught:
        load(write(tmp_path, text))
    assert str(caught.value) == 'lab.toml:3: agent.models.chat.modle: unknown key; did you mean "model"?'


def test_an_unknown_key_like_no_other_is_told_the_known_ones(tmp_path: Path) -> None:
    assert "provider, model, supports_vision" in only(tmp_path, "[agent.models.chat]\nxyz = 1\n").remedy


def test_an_unknown_table_is_named(tmp_path: Path) -> None:
    found = only(tmp_path, "[servr]\nport = 1\n")
    assert (found.line, found.key, found.params["nearest"]) == (1, "servr", "server")


def test_all_problems_are_reported_at_once_in_the_order_of_the_lines(tmp_path: Path) -> None:
    text = """[server]
port = "1"
allowed_origins = ["http://a.example"]
[agent.models.chat]
provider = "olama"
temprature = 1
[chat]
context_tokens = 0
[agent.prompts]
persona = "gone.md"
[site]
origins = [
  "http://b.example",
  "http://a.example",
]
[agent.llm.openai]
llm_api_key = ""
"""
    found = problems(tmp_path, text)
    assert [(problem.line, problem.key) for problem in found] == [
        (2, "server.port"),
        (5, "agent.models.chat.provider"),
        (6, "agent.models.chat.temprature"),
        (8, "chat.context_tokens"),
        (10, "agent.prompts.persona"),
        (14, "site.origins[1]"),
        (16, "agent.llm"),
    ]


def test_the_file_is_called_as_the_user_called_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(write(tmp_path, "x = 1"), shown="conf/lab.toml")
    assert str(caught.value).startswith("conf/lab.toml:1: x: unknown key")


def test_problems_are_told_in_chinese_too(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(write(tmp_path, "[chat]\ntemprature = 1"))
    assert caught.value.render("zh-CN") == 'lab.toml:2: chat.temprature: 未知的键；是不是想写 "temperature"？'


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("[chat]\ntemperature = \n", 2, 15),
        ("a = 1\nb = 2 3\n", 2, 7),
        ("[chat\n", 1, 6),
        ('[chat]\ntext = "open', 2, None),
        ("a = [1,\n\n", 1, None),
    ],
)
def test_broken_toml_is_named_with_its_place(
    tmp_path: Path, text: str, line: int, column: int | None
) -> None:
    found = only(tmp_path, text)
    assert (found.kind, found.line) == ("not_toml", line)
    if column is not None:
        assert found.column == column
        assert str(found).startswith(f"lab.toml:{line}:{column}: ")


def test_a_key_that_stands_twice_is_named(tmp_path: Path) -> None:
    found = only(tmp_path, "[chat]\ntemperature = 1\ntemperature = 2\n")
    assert (found.kind, found.line) == ("not_toml", 3)


@pytest.mark.parametrize("raw", ["[chat]\n# 中文\n".encode("gbk"), "[chat]\n#\u00e9\n".encode("latin-1")])
def test_another_encoding_is_named_with_its_line(tmp_path: Path, raw: bytes) -> None:
    found = only(tmp_path, raw)
    assert (found.kind, found.line) == ("not_utf8", 2)


def test_utf_16_is_named(tmp_path: Path) -> None:
    assert only(tmp_path, "[chat]\n".encode("utf-16")).kind == "not_utf8"


def test_endless_nesting_is_a_problem_and_no_crash(tmp_path: Path) -> None:
    assert only(tmp_path, "a = " + "[" * 100_000).kind in ("too_deep", "not_toml")


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "none.toml")
    assert str(caught.value).startswith("none.toml: there is no such file; ")


def test_a_folder_in_its_place_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)
    assert caught.value.problems[0].kind == "unreadable"


@pytest.mark.parametrize(
    ("text", "key", "kind"),
    [
        ("[server]\nport = 65536", "server.port", "too_large"),
        ("[server]\nport = -1", "server.port", "too_small"),
        ("[server]\nport = true", "server.port", "not_integer"),
        ("[server]\nport = 1.5", "server.port", "not_integer"),
        ("[server]\nhost = ''", "server.host", "bad_host"),
        ("[server]\nhosts = 'x'", "server.hosts", "not_list"),
        ("[server]\nhosts = ['http://x']", "server.hosts[0]", "bad_host"),
        ("[server]\ntrusted_proxies = ['proxy']", "server.trusted_proxies[0]", "bad_address"),
        ("[server]\nallowed_origins = ['*']", "server.allowed_origins[0]", "bad_origin"),
        ("[server]\nallowed_origins = ['null']", "server.allowed_origins[0]", "bad_origin"),
        ("[server]\nallowed_origins = ['https://a.example/']", "server.allowed_origins[0]", "origin_form"),
        ("[server]\nallowed_origins = ['https://a.example:443']", "server.allowed_origins[0]", "origin_form"),
        ("[server]\nallowed_origins = ['https://A.example']", "server.allowed_origins[0]", "origin_form"),
        ("[server]\nrequire_token = 'yes'", "server.require_token", "not_bool"),
        ("server = 3", "server", "not_table"),
        ("[llm]\nproviders = 3", "llm.providers", "not_table"),
        ("[llm.providers.x]", "llm.providers.x", "no_base_url"),
        ("[llm.providers.x]\nbase_url = 'x:1'", "llm.providers.x.base_url", "bad_url"),
        ("[llm.providers.x]\nbase_url = 'ftp://x'", "llm.providers.x.base_url", "bad_url"),
        ("[llm.providers.x]\nbase_url = 'http://'", "llm.providers.x.base_url", "bad_url"),
        ("[llm.providers.x]\nbase_url = 'http://u:p@x'", "llm.providers.x.base_url", "url_credentials"),
        ("[llm.providers.x]\nbase_url = 'http://x:99999'", "llm.providers.x.base_url", "bad_url"),
        ("[llm.providers.builtin]\nbase_url = 'http://x'", "llm.providers.builtin.gguf", "url_and_gguf"),
        ("[llm.providers.'a b']\nbase_url = 'http://x'", 'llm.providers."a b"', "bad_name"),
        ("[llm.providers.ollama]\napi_key = 'env:'", "llm.providers.ollama.api_key", "bad_env_name"),
        ("[llm.providers.ollama]\napi_key = 'a b'", "llm.providers.ollama.api_key", "bad_api_key"),
        ("[llm.providers.ollama]\napi_format = 'x'", "llm.providers.ollama.api_format", "not_one_of"),
        ("[agent]\nspeculate = 'remot'", "agent.speculate", "not_one_of"),
        ("[agent.models.chat]\nsupports_vision = 'yes'", "agent.models.chat.supports_vision", "not_bool"),
        ("[agent.models.speech]\nmodel = 'x'", "agent.models.speech", "unknown_key"),
        ("[agent.tool_loop]\nrecent_messages = 7", "agent.tool_loop.recent_messages", "too_small"),
        ("[agent.tool_loop]\ntimeout_s = 0", "agent.tool_loop.timeout_s", "not_above"),
        ("[agent.tool_loop]\nmax_trace_share = nan", "agent.tool_loop.max_trace_share", "not_number"),
        ("[agent.web]\nallow_private = ['10.0.0.1']", "agent.web.allow_private[0]", "bad_host_port"),
        ("[agent.web]\nsearch_provider = 'brave'", "agent.web.brave.api_key", "search_needs"),
        ("[tools]\nscreenshot = 'never'", "tools.screenshot", "not_ask"),
        ("[tools]\nscreenshot = 1", "tools.screenshot", "not_ask"),
        ("[tools]\nscreenshoot = true", "tools.screenshoot", "unknown_key"),
        ("[tools.run]\ntimeout_s = 1", "tools.run", "unknown_key"),
        ("[tools.tests__run]\ntimeouts = 1", "tools.tests__run.timeouts", "unknown_key"),
        ("[mcp.servers.git]\ncommand = 'x'", "mcp.servers.git", "reserved_name"),
        ("[mcp.servers.a__b]\ncommand = 'x'", "mcp.servers.a__b", "bad_server_name"),
        ("[mcp.servers.x]", "mcp.servers.x", "command_or_url"),
        ("[mcp.servers.x]\ncommand = 'x'\nurl = 'http://x'", "mcp.servers.x", "command_or_url"),
        ("[mcp.servers.x]\nargs = ['a']\nurl = 'http://x'", "mcp.servers.x.args", "only_with_command"),
        ("[mcp.servers.x]\ncommand = 'x'\nenv = {'A B' = 'c'}", 'mcp.servers.x.env."A B"', "bad_env_name"),
        ("[chat]\ntemperature = 2.1", "chat.temperature", "too_large"),
        ("[chat]\ntemperature = nan", "chat.temperature", "not_number"),
        ("[pet_mode]\nworking_hours = ['9-17']", "pet_mode.working_hours[0]", "bad_hours"),
        ("[pet_mode]\nworking_hours = ['09:00-09:00']", "pet_mode.working_hours[0]", "bad_hours"),
        ("[pet_mode.rules.idel]\nenabled = false", "pet_mode.rules.idel", "unknown_key"),
        ("[pet_mode.rules.unpushed]\nat = '25:00'", "pet_mode.rules.unpushed.at", "bad_clock"),
        ("[limits]\nstorage = 'redis'", "limits.storage", "bad_storage"),
        ("[site]\norigins = ['chrome-extension://abc']", "site.origins[0]", "bad_origin"),
        ("[site]\nenabled = true", "site.origins", "site_without_origins"),
        ("[avatar]\nmodel = '../x'", "avatar.model", "bad_file_name"),
        ("[avatar.motions]\nnodd = { group = 'a' }", "avatar.motions.nodd", "unknown_key"),
        ("[avatar.motions]\nnod = { index = 1 }", "avatar.motions.nod.group", "missing"),
        ("[avatar.expressions]\nsmile = 3", "avatar.expressions.smile", "not_text"),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, text: str, key: str, kind: str) -> None:
    found = only(tmp_path, text)
    assert (found.key, found.kind) == (key, kind)
    for locale in ("en", "zh-CN"):
        assert found.render(locale).startswith("lab.toml:")


@pytest.mark.parametrize(
    "text",
    [
        "[server]\nhost = '::1'\nhosts = ['pet.example.com', 'pet.example.com:8443', '192.168.0.2']",
        "[server]\nallowed_origins = ['https://a.example', 'http://[::1]:8080', 'vscode-webview://abc123']",
        "[server]\ntrusted_proxies = ['10.0.0.0/8', '::1']\nport = 0",
        "[llm.providers.x]\nbase_url = 'http://192.168.0.2:8000'\n[agent.models.chat]\nprovider = 'x'",
        "[llm.providers.own]\ngguf = 'models/own.gguf'",
        "[tools]\nscreenshot = false\nchecks = 'ask'\n[tools.'tests__run']\ntimeout_s = 600",
        "[mcp.servers.x]\nurl = 'https://x.example/mcp'\nallow = ['a']\nenabled = false\ntimeout_s = 3",
        "[mcp.servers.x]\ncommand = 'npx'\nargs = ['-y', 'x']\nenv = { A = 'b' }\ncwd = '.'",
        "[pet_mode]\nquiet_hours = ['23:00-08:00', '12:00-13:00', '00:00-24:00']",
        "[limits]\nstorage = 'redis://127.0.0.1:6379/0'",
        "[site]\nenabled = true\norigins = ['https://blog.example']\n[site.models.chat]\nprovider = 'ollama'",
        "[agent.prompts]\npersona = 'You are short.'\ntool_router = '''\nTwo\nlines.md'''",
    ],
)
def test_what_is_right_is_accepted(tmp_path: Path, text: str) -> None:
    assert loaded(tmp_path, text)


def test_a_role_that_names_no_provider_is_told_the_nearest(tmp_path: Path) -> None:
    found = only(tmp_path, '[agent.models.tool]\nprovider = "opnai"\n')
    assert found.message == 'there is no provider "opnai"'
    assert found.remedy == 'did you mean "openai"?'


def test_an_origin_cant_be_the_owners_and_the_visitors(tmp_path: Path) -> None:
    text = "[server]\nallowed_origins = ['https://a.example']\n[site]\norigins = ['https://a.example']\n"
    assert only(tmp_path, text).kind == "origin_twice"


def test_no_message_repeats_a_key(tmp_path: Path) -> None:
    text = "[llm.providers.x]\napi_key = 'sk-very secret'\n[llm.providers.y]\nbase_url='http://a:sk-very@b'\n"
    assert not any("sk-very" in str(problem) for problem in problems(tmp_path, text))


def test_a_prompt_must_lie_beside_the_file(tmp_path: Path) -> None:
    for name in ("../out.md", "/etc/out.md", "C:\\\\out.md", "a/../../out.txt"):
        assert only(tmp_path, f'[agent.prompts]\npersona = "{name}"\n').kind == "prompt_not_beside"


def test_the_old_form_is_recognised_and_the_rest_is_checked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(write(tmp_path, "[agent.llm.openai]\nllm_api_key = ''\n[chat]\ntemperature = 9\n"))
    assert caught.value.old_form
    assert "pet config migrate" in str(caught.value)
    assert [problem.key for problem in caught.value.problems] == ["agent.llm", "chat.temperature"]


def test_the_bounds_of_one_tool_stand_beside_the_switches(tmp_path: Path) -> None:
    tools = loaded(tmp_path, "[tools]\nweb = false\n[tools.tests__run]\ntimeout_s = 600\n").tools
    assert not tools.web
    assert tools.bounds("tests__run").timeout_s == 600
    assert tools.bounds("lint__run").timeout_s is None


def test_every_kind_of_problem_has_its_words_in_both_languages() -> None:
    source = "".join(
        path.read_text(encoding="utf-8") for path in (HERE.parent.parent / "server/config").glob("*.py")
    )
    kinds = set(re.findall(r'wrong\(\s*"(\w+)"', source))
    assert len(kinds) > 15
    for kind in kinds:
        params = {"right": "", "taken": ""}
        for text in (f"config.{kind}", f"config.{kind}_fix"):
            assert render(text, "en", **params) != render(text, "zh-CN", **params)


def test_the_known_keys_of_a_table_are_found() -> None:
    assert "temperature" in known_keys(("chat",))
    assert "base_url" in known_keys(("llm", "providers", "anything"))
    assert known_keys(("avatar", "motions")) == ("talk", "nod", "shake", "blink")
    assert known_keys(("chat", "temperature")) == ()


EVERY_KEY = (HERE / "every_key.toml").read_text(encoding="utf-8")
SHRAPNEL = [
    "",
    "[",
    "]",
    "{",
    "}",
    '"',
    "'",
    '"""',
    "=",
    ".",
    ",",
    "#",
    "\n",
    "\r",
    "\x00",
    "\ufeff",
    "3",
    "猫",
    " ",
]


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_damage_does_more_than_be_reported(tmp_path: Path, data: st.DataObject) -> None:
    text = EVERY_KEY
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.integers(0, 12))
        text = text[:start] + data.draw(st.sampled_from(SHRAPNEL)) + text[end:]
    error = outcome(write(tmp_path, text))
    if error is not None:
        assert error.problems
        assert str(error)
        assert error.render("zh-CN")


def outcome(path: Path) -> ConfigError | None:
    try:
        load(path)
    except ConfigError as error:
        return error
    return None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below, max_size=3),
    max_leaves=6,
)
known_paths = st.sampled_from(
    [
        *("server", "server.hosts", "llm", "llm.providers", "llm.providers.x", "agent", "agent.llm"),
        *("agent.models", "agent.models.chat", "agent.prompts", "agent.web", "tools", "tools.a__b"),
        *("mcp.servers", "mcp.servers.x", "mcp.servers.x.env", "pet_mode.rules", "site", "site.origins"),
        *("site.models", "avatar.motions", "avatar.motions.nod", "avatar.expressions"),
    ]
).map(lambda path: tuple(path.split(".")))


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(known_paths, json_values), min_size=1, max_size=3))
def test_no_data_does_more_than_be_reported(values: list[tuple[tuple[str, ...], object]]) -> None:
    data: dict[str, Any] = {}
    for path, value in values:
        table = data
        for key in path[:-1]:
            below = table.setdefault(key, {})
            table = below if isinstance(below, dict) else table.setdefault(key + "2", {})
        table[path[-1]] = value
    config, findings = check(data)
    assert (config is None) == bool(findings)
    for item in findings:
        assert Problem("f", 1, dotted(item.path), item.kind, item.fix, item.params).render("zh-CN")
