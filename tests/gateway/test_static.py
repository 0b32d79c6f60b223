from __future__ import annotations

import gzip
import mimetypes
import os
from pathlib import Path

import pytest

from server.gateway.static import StaticAnswer, StaticFiles

HOST = "127.0.0.1:12393"
SCRIPT = "/assets/index-Lty017n-.js"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    page = tmp_path / "page"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("<!doctype html>", encoding="utf-8")
    (page / "icon.svg").write_text("<svg/>", encoding="utf-8")
    (page / SCRIPT[1:]).write_text("let a = 1;", encoding="utf-8")
    (page / "assets" / "plain.css").write_text("a{}", encoding="utf-8")
    (page / "with space.txt").write_text("x", encoding="utf-8")
    (page / ".built-from").write_text("secret", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    return page


def get(folder: Path, target: str, method: str = "GET", **fields: str) -> StaticAnswer:
    return StaticFiles(folder).answer(method, target, host=HOST, **fields)


@pytest.mark.parametrize(
    ("target", "content_type", "body"),
    [
        ("/", "text/html; charset=utf-8", b"<!doctype html>"),
        ("/index.html", "text/html; charset=utf-8", b"<!doctype html>"),
        ("/?a=/../b", "text/html; charset=utf-8", b"<!doctype html>"),
        (SCRIPT, "text/javascript; charset=utf-8", b"let a = 1;"),
        ("/assets/plain.css?v=2", "text/css; charset=utf-8", b"a{}"),
        ("/icon.svg", "image/svg+xml", b"<svg/>"),
        ("/with%20space.txt", "text/plain; charset=utf-8", b"x"),
    ],
)
def test_the_page_and_its_assets_are_served(
    folder: Path, target: str, content_type: str, body: bytes
) -> None:
    answer = get(folder, target)
    assert (answer.status, answer.headers["Content-Type"], answer.body) == (200, content_type, body)
    assert answer.headers["Content-Length"] == str(len(body))


@pytest.mark.parametrize(
    "target",
    [
        "/../secret.txt",
        "/assets/../../secret.txt",
        "/assets/../index.html",
        "/%2e%2e/secret.txt",
        "/%2E%2E%2Fsecret.txt",
        "/..%5csecret.txt",
        "/..\\secret.txt",
        "/%252e%252e/secret.txt",
        "/.%2e/secret.txt",
        "//secret.txt",
        "//index.html",
        "/./index.html",
        "/index.html/",
        "/index.html/..",
        "/index.html%00.js",
        "/index.html%00",
        "/index.html.",
        "/index.html%20",
        "/index.html::$DATA",
        "/INDEX.HTML",
        "/C:/Windows/win.ini",
        "/c%3A/secret.txt",
        "/etc/passwd",
        "//etc/passwd",
        "/file:///etc/passwd",
        "/NUL",
        "/assets",
        "/assets/",
        "/.built-from",
        "/%ff",
        "",
        "*",
        "index.html",
        "/" + "a" * 8000,
    ],
)
def test_no_path_leads_out_of_the_folder(folder: Path, target: str) -> None:
    answer = get(folder, target)
    assert answer.status == 404
    assert b"secret" not in answer.body


def test_a_link_that_leads_out_is_not_followed(folder: Path, tmp_path: Path) -> None:
    try:
        (folder / "out.txt").symlink_to(tmp_path / "secret.txt")
        (folder / "up").symlink_to(tmp_path, target_is_directory=True)
        (folder / "in.txt").symlink_to(folder / "icon.svg")
    except OSError:
        pytest.skip("no symbolic links here")
    assert get(folder, "/out.txt").status == 404
    assert get(folder, "/up/secret.txt").status == 404
    assert get(folder, "/in.txt").status == 200


def test_the_systems_table_of_types_has_no_say(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(mimetypes.types_map, ".js", "text/plain")
    assert get(folder, SCRIPT).headers["Content-Type"].startswith("text/javascript")


def test_hashed_assets_stay_in_the_browser_and_the_page_is_asked_for_again(folder: Path) -> None:
    assert "immutable" in get(folder, SCRIPT).headers["Cache-Control"]
    for target in ("/", "/icon.svg", "/assets/plain.css"):
        assert get(folder, target).headers["Cache-Control"] == "no-cache"


def test_what_the_browser_has_is_not_sent_again(folder: Path) -> None:
    etag = get(folder, "/").headers["ETag"]
    for known in (etag, f"W/{etag}", f'"x", {etag}', "*"):
        answer = get(folder, "/", if_none_match=known)
        assert (answer.status, answer.body) == (304, b"")
    assert get(folder, "/", if_none_match='"x"').status == 200
    (folder / "index.html").write_text("new", encoding="utf-8")
    assert get(folder, "/", if_none_match=etag).body == b"new"


def test_head_answers_like_get_without_a_body(folder: Path) -> None:
    head, whole = get(folder, "/", "HEAD"), get(folder, "/")
    assert (head.status, head.headers, head.body) == (200, whole.headers, b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get", ""])
def test_other_methods_are_refused(folder: Path, method: str) -> None:
    answer = get(folder, "/", method)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")


def test_a_compressed_file_beside_it_is_sent_to_who_takes_it(folder: Path) -> None:
    (folder / (SCRIPT[1:] + ".gz")).write_bytes(gzip.compress(b"let a = 1;"))
    packed = get(folder, SCRIPT, accept_encoding="br, gzip;q=0.8")
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == b"let a = 1;"
    for refusal in ("", "br", "gzip;q=0", "gzip; q=0.000"):
        plain = get(folder, SCRIPT, accept_encoding=refusal)
        assert "Content-Encoding" not in plain.headers
        assert plain.headers["Vary"] == "Accept-Encoding"
        assert plain.headers["ETag"] != packed.headers["ETag"]


def test_the_page_may_run_its_own_script_and_nothing_else(folder: Path) -> None:
    headers = get(folder, "/").headers
    policy = headers["Content-Security-Policy"].split("; ")
    assert policy[0] == "default-src 'none'"
    assert "script-src 'self'" in policy
    assert f"connect-src 'self' ws://{HOST} wss://{HOST}" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in headers["Content-Security-Policy"]


@pytest.mark.parametrize("target", ["/", SCRIPT, "/missing"])
def test_every_answer_carries_the_safe_headers(folder: Path, target: str) -> None:
    headers = get(folder, target).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


@pytest.mark.parametrize("there", [True, False])
def test_a_page_that_was_never_built_says_how_to_build_it(tmp_path: Path, there: bool) -> None:
    if there:
        (tmp_path / "page").mkdir()
    answer = get(tmp_path / "page", "/")
    assert answer.status == 503
    assert b"pet.py" in answer.body
    assert os.fsencode(str(tmp_path)) not in answer.body
