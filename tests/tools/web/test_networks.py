from __future__ import annotations

import ipaddress

import pytest

from tools.web.address import BadAddress, target_of
from tools.web.networks import Borders, Refused, kind_of

REFUSED = [
    # this machine
    "http://127.0.0.1/",
    "http://127.0.0.1:8080/",
    "http://127.255.255.254/",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7F.0x0.0x0.0x1/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://0177.1/",
    "http://017700000001/",
    "http://000177.0.0.1/",
    "http://127.0.0.1./",
    "http://１２７.０.０.１/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://0.1.2.3/",
    "http://[::]/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://loc\u00adalhost/",
    "http://ｌｏｃａｌｈｏｓｔ/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    "http://a.localhost/",
    "http://localhost.localdomain/",
    "http://ip6-localhost/",
    # IPv4 in IPv6
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[0:0:0:0:0:ffff:a00:1]/",
    "http://[::ffff:8.8.8.8]/",
    "http://[::127.0.0.1]/",
    "http://[::10.0.0.1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a00:1::1]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://[64:ff9b:1::8.8.8.8]/",
    "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/",
    "http://[2a00:1450::5efe:10.0.0.1]/",
    "http://[2a00:1450::200:5efe:10.0.0.1]/",
    # private networks
    "http://10.0.0.1/",
    "http://10.255.255.255/",
    "http://012.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://3232235777/",
    "http://0xc0a80101/",
    "http://100.64.0.1/",
    "http://100.127.255.255/",
    "http://[fc00::1]/",
    "http://[fd12:3456:789a::1]/",
    "http://[fec0::1]/",
    "http://printer.local/",
    "http://wiki.internal/",
    "http://router.home.arpa/",
    # the local link and metadata
    "http://169.254.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://169.254.170.2/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://[fd00:ec2::254]/",
    "http://[fd20:ce::254]/",
    "http://[fe80::1]/",
    "http://[febf::1]/",
    "http://metadata/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://METADATA.google.internal./",
    "http://metadata.goog/",
    "http://instance-data/",
    # nobody's
    "http://224.0.0.1/",
    "http://239.255.255.250/",
    "http://[ff02::1]/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://192.0.2.1/",
    "http://198.18.0.1/",
    "http://198.51.100.7/",
    "http://203.0.113.9/",
    "http://192.88.99.1/",
    "http://[2001:db8::1]/",
    "http://[3fff::1]/",
    "http://[100::1]/",
    "http://[4000::1]/",
    "http://[5f00::1]/",
    "http://[e000::1]/",
    # tricks with users and separators
    "http://example.com@127.0.0.1/",
    "http://example.com:80@169.254.169.254/",
    "http://127.0.0.1\\@example.com/",
    "http://127.0.0.1%2f@example.com/",
    "http://[fe80::1%25eth0]/",
    "http://%6c%6f%63%61%6c%68%6f%73%74/",
    "http://127.0.0.1:80\\.example.com/",
]

PUBLIC = [
    "http://93.184.216.34/",
    "http://8.8.8.8/",
    "http://134744072/",
    "http://0x08080808/",
    "http://[2606:2800:220:1::1]/",
    "http://[2001:4860:4860::8888]/",
    "http://[64:ff9b::8.8.8.8]/",
    "https://example.com/",
    "https://localhost.example.com/",
    "https://mylocal/",
    "https://notlocalhost/",
    "https://metadata.example/",
    "http://172.32.0.1/",
    "http://100.63.255.255/",
    "http://100.128.0.1/",
    "http://169.253.0.1/",
    "http://11.0.0.1/",
]


@pytest.mark.parametrize("url", REFUSED)
def test_no_spelling_of_a_place_that_is_not_public_is_let_through(url: str) -> None:
    with pytest.raises((Refused, BadAddress)):
        Borders().check_host(target_of(url))


@pytest.mark.parametrize("url", PUBLIC)
def test_public_places_are_let_through(url: str) -> None:
    Borders().check_host(target_of(url))


def test_an_exception_holds_for_exactly_its_host_and_port() -> None:
    borders = Borders.of(["127.0.0.1:8080", "LOCALHOST:3000", "nas.local:80", "[::1]:9000"])
    for url in (
        "http://127.0.0.1:8080/x",
        "http://2130706433:8080/",
        "https://localhost:3000/",
        "http://nas.local/",
        "http://[::1]:9000/",
    ):
        borders.check_host(target_of(url))
    for url in (
        "http://127.0.0.1/",
        "http://127.0.0.1:8081/",
        "http://127.0.0.2:8080/",
        "http://localhost:8080/",
        "http://a.localhost:3000/",
        "https://nas.local/",
        "http://[::ffff:127.0.0.1]:8080/",
    ):
        with pytest.raises(Refused):
            borders.check_host(target_of(url))


def test_an_exception_for_a_name_opens_its_private_addresses_but_no_metadata() -> None:
    borders = Borders.of(["nas.example:80"])
    target = target_of("http://nas.example/")
    borders.check_addresses(target, [ipaddress.ip_address("192.168.1.5"), ipaddress.ip_address("fe80::1")])
    for address in ("169.254.169.254", "0.0.0.0", "224.0.0.1", "::ffff:192.168.1.5", "fd00:ec2::254"):
        with pytest.raises(Refused):
            borders.check_addresses(target, [ipaddress.ip_address(address)])


@pytest.mark.parametrize(
    "entry", ["", "nonsense", "a:b", "user@host:80", "http://host:80", "host:80/path/x y"]
)
def test_an_entry_that_is_no_host_and_port_opens_nothing_private(entry: str) -> None:
    borders = Borders.of([entry])
    for url in ("http://127.0.0.1/", "http://10.0.0.1/", "http://localhost/"):
        with pytest.raises(Refused):
            borders.check_host(target_of(url))


def test_metadata_stays_closed_even_when_it_is_named() -> None:
    borders = Borders.of(["169.254.169.254:80", "metadata.google.internal:80"])
    for url in ("http://169.254.169.254/", "http://metadata.google.internal/"):
        with pytest.raises(Refused):
            borders.check_host(target_of(url))


def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    addresses = [ipaddress.ip_address("93.184.216.34"), ipaddress.ip_address("10.0.0.1")]
    with pytest.raises(Refused, match="a private network"):
        Borders().check_addresses(target_of("http://two.example/"), addresses)


def test_an_address_with_a_zone_is_of_the_local_link() -> None:
    assert kind_of(ipaddress.ip_address("2606::1%eth0")) == "link-local"
