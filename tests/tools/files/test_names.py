from __future__ import annotations

import pytest

from tools.files.names import BadPath, is_binary_name, is_secret, parts_of

SECRET = [
    ".env",
    ".ENV",
    ".env.local",
    ".envrc",
    "config/prod.env",
    "id_rsa",
    "keys/ID_ED25519",
    "server.pem",
    "tls/private.KEY",
    ".netrc",
    ".npmrc",
    ".pypirc",
    "credentials",
    "credentials.json",
    "secrets.yaml",
    "Secrets.TOML",
    "keys.toml",
    ".git/config",
    "sub/.git/HEAD",
    ".ssh/known_hosts",
    ".aws/config",
    ".env.",
    ".env ",
    ".env. .",
    ".git./config",
    ".g\u200cit/config",
    ".env\u200b",
    "．env",
    "id_rsa.pub",
]
PLAIN = [
    "README.md",
    "src/env.py",
    "environment.py",
    "keyboard.py",
    "src/monkey.py",
    ".gitignore",
    ".github/x.yml",
]


@pytest.mark.parametrize("path", SECRET)
def test_a_name_of_secrets_is_known_however_it_is_written(path: str) -> None:
    assert is_secret(path.split("/"))


@pytest.mark.parametrize("path", PLAIN)
def test_an_ordinary_name_is_no_secret(path: str) -> None:
    assert not is_secret(path.split("/"))


@pytest.mark.parametrize("name", ["a.png", "A.PNG", "x.tar.gz", "m.gguf", "lib.so", "a.pyc", "page.pdf"])
def test_a_binary_file_is_known_by_its_name(name: str) -> None:
    assert is_binary_name(name)


@pytest.mark.parametrize("name", ["a.py", "Makefile", "png", "so", "a.png.txt", "x.svg"])
def test_a_text_file_is_not_taken_for_a_binary_one(name: str) -> None:
    assert not is_binary_name(name)


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("src/app.py", ("src", "app.py")),
        ("./src/app.py", ("src", "app.py")),
        ("  `src/app.py` ", ("src", "app.py")),
        ("src\\app.py", ("src", "app.py")),
        ("src//app.py", ("src", "app.py")),
        ("../x", ("..", "x")),
        ("说明.md", ("说明.md",)),
        ("-rf", ("-rf",)),
    ],
)
@pytest.mark.parametrize("windows", [False, True])
def test_a_path_has_the_same_parts_everywhere(path: str, parts: tuple[str, ...], windows: bool) -> None:
    assert parts_of(path, windows=windows) == parts


@pytest.mark.parametrize(
    "path",
    ["", "  ", "a\0b", "a\nb", "x" * 5000, "//server/share/x", "\\\\server\\share\\x", "\\\\?\\C:\\x",
     "\\\\.\\COM1", "f.txt/..namedfork/rsrc"],
)  # fmt: skip
@pytest.mark.parametrize("windows", [False, True])
def test_what_is_no_path_of_a_workspace_is_refused(path: str, windows: bool) -> None:
    with pytest.raises(BadPath):
        parts_of(path, windows=windows)


@pytest.mark.parametrize(
    "path",
    ["C:x", "a.txt:stream", "a.txt::$DATA", ".env::$DATA", "NUL", "con.txt", "src/aux", "COM1", "lpt¹.log",
     "CONIN$", "aux .txt", "nul."],
)  # fmt: skip
def test_devices_and_streams_of_windows_are_refused_there(path: str) -> None:
    with pytest.raises(BadPath):
        parts_of(path, windows=True)


def test_a_drive_leads_outside_where_there_are_none() -> None:
    with pytest.raises(BadPath, match="outside"):
        parts_of("C:\\Users\\me\\x", windows=False)
    assert parts_of("C:\\Users\\me\\x", windows=True) == ("C:\\", "Users", "me", "x")
