from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.web.address import MAX_LENGTH, BadAddress, join, normalise, target_of, well_formed

SAME = [
    ("HTTP://Example.COM", "http://example.com/"),
    ("http://example.com:80/", "http://example.com/"),
    ("https://example.com:443", "https://example.com/"),
    ("https://example.com:80/", "https://example.com:80/"),
    ("http://example.com:/", "http://example.com/"),
    ("http://example.com./", "http://example.com/"),
    ("  https://example.com/a\n", "https://example.com/a"),
    ("http://example.com/a#part", "http://example.com/a"),
    ("http://example.com/?", "http://example.com/"),
    ("http://example.com?q=1", "http://example.com/?q=1"),
    ("http://example.com/a/./b/../c", "http://example.com/a/c"),
    ("http://example.com/../../etc", "http://example.com/etc"),
    ("http://example.com/a/..", "http://example.com/"),
    ("http://example.com/%7euser/%2e%2e/x", "http://example.com/x"),
    ("http://example.com/%e4%BD%a0", "http://example.com/%E4%BD%A0"),
    ("http://example.com/你好", "http://example.com/%E4%BD%A0%E5%A5%BD"),
    ("http://example.com/100%", "http://example.com/100%25"),
    ("http://example.com/a b", "http://example.com/a%20b"),
    ("http://example.com/?q=a|b", "http://example.com/?q=a%7Cb"),
    ("http://bücher.example/", "http://xn--bcher-kva.example/"),
    ("http://例え.テスト/", "http://xn--r8jz45g.xn--zckzah/"),
    ("http://中国。cn/", "http://xn--fiqs8s.cn/"),
    ("http://EXAMPLE。com/", "http://example.com/"),
    ("http://2130706433/", "http://127.0.0.1/"),
    ("http://0x7f.0.0.1/", "http://127.0.0.1/"),
    ("http://0177.0.0.01/", "http://127.0.0.1/"),
    ("http://127.1/", "http://127.0.0.1/"),
    ("http://１２７。０。０。１/", "http://127.0.0.1/"),
    ("http://①②⑦.⓪.⓪.①/", "http://127.0.0.1/"),
    ("http://[2001:DB8:0::1]:80/", "http://[2001:db8::1]/"),
    ("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
    ("http://under_score.example/", "http://under_score.example/"),
]

NONE = [
    "",
    "example.com",
    "//example.com/",
    "/path",
    "ftp://example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/html,hi",
    "gopher://example.com/",
    "http:example.com",
    "http://",
    "http:///path",
    "http://user@example.com/",
    "http://user:secret@example.com/",
    "http://example.com@127.0.0.1/",
    "http://example.com:80@127.0.0.1/",
    "http://@127.0.0.1/",
    "http://example.com\\@127.0.0.1/",
    "http://example.com\\.evil.example/",
    "http:\\\\example.com/",
    "http://exa mple.com/",
    "http://example.com:0/",
    "http://example.com:65536/",
    "http://example.com:٨٠/",
    "http://example.com:80:80/",
    "http://example..com/",
    "http://.example.com/",
    "http://example.com../",
    "http://%31%32%37.0.0.1/",
    "http://127.0.0.1%2f.example.com/",
    "http://exa\tmple.com/",
    "http://example.com/\r\nHost: evil",
    "http://example.com/\0",
    "http://example.com/\ud800",
    "http://example.com／@127.0.0.1/",
    "http://a／b.example/",
    "http://[::1/",
    "http://::1/",
    "http://[::1]evil.example/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[v1.fe80::a]/",
    "http://[127.0.0.1]/",
    "http://256.1.1.1/",
    "http://1.2.3.4.5/",
    "http://1.2.3.09/",
    "http://4294967296/",
    "http://0x1ffffffff/",
    "http://example.0x/../",
    f"http://{'a' * 64}.example/",
    f"http://{'a.' * 130}example/",
    f"http://example.com/{'a' * MAX_LENGTH}",
    "http://xn--\u2028.example/",
]


@pytest.mark.parametrize(("written", "normal"), SAME)
def test_one_address_has_one_form(written: str, normal: str) -> None:
    assert normalise(written) == normal


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_plain_address_of_a_page_is_none(text: str) -> None:
    assert normalise(text) is None
    with pytest.raises(BadAddress):
        well_formed(text)


@given(
    st.one_of(
        st.text(max_size=60),
        st.builds("http://{}/{}?{}".format, st.text(max_size=20), st.text(max_size=20), st.text(max_size=20)),
        st.builds("https://example.com/{}".format, st.text(alphabet="./%2eE你 a?#&=", max_size=30)),
    )
)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(text)
    if once is not None:
        assert normalise(once) == once
        assert once.isascii()
        assert once.isprintable()
        assert "@" not in once.split("/")[2]


def test_links_are_joined_to_their_page() -> None:
    page = "https://example.com/a/b?c"
    assert join(page, "../d") == "https://example.com/d"
    assert join(page, "//other.example/x") == "https://other.example/x"
    assert join(page, " \n/e ") == "https://example.com/e"
    assert join(page, "?q") == "https://example.com/a/b?q"
    for reference in ("mailto:a@b.example", "javascript:0", "http://[", "\\\\evil.example/"):
        with pytest.raises(BadAddress):
            join(page, reference)


def test_a_target_says_host_and_port() -> None:
    target = target_of("https://[::1]/x")
    assert (target.host, target.port, target.authority, target.origin) == (
        "::1",
        443,
        "[::1]:443",
        "https://[::1]",
    )
    assert target_of("http://a.example:8080/").origin == "http://a.example:8080"
