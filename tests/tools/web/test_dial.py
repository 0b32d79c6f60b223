"""Connections: the name that TLS proves, and proxies of the environment."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.support.website import Internet, Website, answer
from tests.tools.web.conftest import PUBLIC
from tools.contract import ToolFailure
from tools.web.download import Downloader
from tools.web.networks import Borders


def certified(name: str, folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """What a server that is called ``name`` shows, and what trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    names: list[x509.GeneralName] = [x509.DNSName(name), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = folder / f"{name}.pem"
    pem.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(pem)
    return serving, ssl.create_default_context(cafile=str(pem))


async def test_tls_proves_the_name_and_not_the_address(tmp_path: Path) -> None:
    serving, trusting = certified("secure.example", tmp_path)
    async with Website(tls=serving) as site:
        site.pages["/"] = answer("safe")
        internet = Internet({"secure.example": [[PUBLIC]], "other.example": [[PUBLIC]]}, {PUBLIC: site.port})
        downloader = Downloader(
            Borders, resolve=internet.resolve, connect=internet.dial, trusted=trusting, proxies=dict
        )
        assert (await downloader.get("https://secure.example/")).body == b"safe"
        with pytest.raises(ToolFailure, match="certificate isn't valid"):
            await downloader.get("https://other.example/")
        assert internet.dialled == [(PUBLIC, 443), (PUBLIC, 443)]


async def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    serving, _ = certified("secure.example", tmp_path)
    async with Website(tls=serving) as site:
        internet = Internet({"secure.example": [[PUBLIC]]}, {PUBLIC: site.port})
        downloader = Downloader(Borders, resolve=internet.resolve, connect=internet.dial, proxies=dict)
        with pytest.raises(ToolFailure, match="certificate isn't valid"):
            await downloader.get("https://secure.example/")
    assert site.asked == []


async def test_a_proxy_is_told_the_address_that_was_checked_and_never_the_name(
    site: Website, internet: Internet
) -> None:
    """The proxy is a site whose answer to CONNECT is followed by the page itself."""
    site.pages[f"{PUBLIC}:80"] = b"HTTP/1.1 200 Established\r\n\r\n" + answer("through")
    proxies = {"http": f"http://me:it@{site.authority}"}
    downloader = Downloader(Borders, resolve=internet.resolve, proxies=lambda: proxies)
    assert (await downloader.get("http://page.example/")).body == b"through"
    assert (site.asked[0].method, site.asked[0].target) == ("CONNECT", f"{PUBLIC}:80")
    assert site.asked[0].headers["proxy-authorization"] == "Basic bWU6aXQ="

    internet.names["page.example"] = [["10.0.0.1"]]
    with pytest.raises(ToolFailure, match="a private network"):
        await downloader.get("http://page.example/")
    assert len(site.asked) == 1


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (answer(status=407), r"refused the connection \(407\)"),
        (b"nonsense", "no sensible answer"),
        (b"HTTP/1.1", "no sensible answer"),
        (b"HTTP/1.1 200 " + b"x" * 40_000, "no sensible answer"),
    ],
)
async def test_a_proxy_that_refuses_is_named(
    site: Website, internet: Internet, reply: bytes, words: str
) -> None:
    site.pages[f"{PUBLIC}:80"] = reply
    downloader = Downloader(Borders, resolve=internet.resolve, proxies=lambda: {"all": site.authority})
    with pytest.raises(ToolFailure, match=words):
        await downloader.get("http://page.example/")


async def test_a_socks_proxy_is_not_passed_by_in_silence(internet: Internet) -> None:
    proxies = {"all": "socks5h://127.0.0.1:9050"}
    downloader = Downloader(Borders, resolve=internet.resolve, connect=internet.dial, proxies=lambda: proxies)
    with pytest.raises(ToolFailure, match="of another kind"):
        await downloader.get("http://page.example/")
    assert internet.dialled == []


async def test_what_the_owner_opened_on_this_side_is_reached_without_the_proxy(site: Website) -> None:
    site.pages["/"] = answer("direct")
    borders = Borders.of([site.authority])
    downloader = Downloader(lambda: borders, proxies=lambda: {"http": "http://127.0.0.1:1"})
    assert (await downloader.get(site.url())).body == b"direct"
