"""Which addresses a page may be read from: public ones, and those that the owner named.

What a network is for follows the special-purpose registries of IANA. The tables are our own because those of
:mod:`ipaddress` differ between Python's patch releases. IPv6 is closed by default: only 2000::/3 is public,
and of that nothing that wraps an IPv4 address.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from tools.web.address import BadAddress, Target, ip_of, target_of

Kind: TypeAlias = Literal[
    "loopback",
    "private",
    "link-local",
    "shared",
    "metadata",
    "multicast",
    "unspecified",
    "reserved",
    "embedded",
]
Ip: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

WORDS: Final[dict[Kind, str]] = {
    "loopback": "this machine itself",
    "private": "a private network",
    "link-local": "the local link",
    "shared": "a provider's shared network",
    "metadata": "a cloud's metadata service",
    "multicast": "a multicast group",
    "unspecified": "no address at all",
    "reserved": "a reserved network",
    "embedded": "an IPv4 address wrapped in IPv6",
}
MAY_BE_ALLOWED: Final = frozenset[Kind]({"loopback", "private", "link-local", "shared"})
"""What an entry of ``allow_private`` can open; nobody's own page lies at the others."""

_V4: Final[tuple[tuple[str, Kind], ...]] = (
    ("0.0.0.0/8", "unspecified"),
    ("10.0.0.0/8", "private"),
    ("100.100.100.200/32", "metadata"),  # Alibaba
    ("100.64.0.0/10", "shared"),
    ("127.0.0.0/8", "loopback"),
    ("168.63.129.16/32", "metadata"),  # Azure; looks public, leads to the host
    ("169.254.169.254/32", "metadata"),
    ("169.254.170.0/24", "metadata"),  # containers at Amazon
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.192/32", "metadata"),  # Oracle
    ("192.0.0.0/24", "reserved"),
    ("192.0.2.0/24", "reserved"),
    ("192.31.196.0/24", "reserved"),
    ("192.52.193.0/24", "reserved"),
    ("192.88.99.0/24", "reserved"),
    ("192.168.0.0/16", "private"),
    ("192.175.48.0/24", "reserved"),
    ("198.18.0.0/15", "reserved"),
    ("198.51.100.0/24", "reserved"),
    ("203.0.113.0/24", "reserved"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
)
_V6: Final[tuple[tuple[str, Kind], ...]] = (
    ("::/128", "unspecified"),
    ("::1/128", "loopback"),
    ("::ffff:0:0/96", "embedded"),  # IPv4-mapped
    ("::ffff:0:0:0/96", "embedded"),  # IPv4-translated
    ("::/96", "embedded"),  # IPv4-compatible
    ("64:ff9b:1::/48", "embedded"),  # NAT64 of an operator's own
    ("2001::/32", "embedded"),  # Teredo
    ("2001::/23", "reserved"),
    ("2001:db8::/32", "reserved"),
    ("2002::/16", "embedded"),  # 6to4
    ("2620:4f:8000::/48", "reserved"),
    ("3fff::/20", "reserved"),
    ("fd00:ec2::/32", "metadata"),  # Amazon
    ("fd20:ce::254/128", "metadata"),  # Google
    ("fd00:42::42/128", "metadata"),  # Scaleway
    ("fc00::/7", "private"),
    ("fec0::/10", "private"),
    ("fe80::/10", "link-local"),
    ("ff00::/8", "multicast"),
)
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
_PUBLIC_V6: Final = ipaddress.IPv6Network("2000::/3")
_ISATAP: Final = (0x00005EFE, 0x02005EFE)

_NAMES: Final[tuple[tuple[str, Kind], ...]] = (
    ("metadata", "metadata"),
    ("metadata.google.internal", "metadata"),
    ("metadata.goog", "metadata"),
    ("instance-data", "metadata"),
    ("instance-data.ec2.internal", "metadata"),
    ("metadata.azure.internal", "metadata"),
    ("metadata.tencentyun.com", "metadata"),
    ("localhost", "loopback"),
    ("localhost.localdomain", "loopback"),
    ("localhost6", "loopback"),
    ("localhost6.localdomain6", "loopback"),
    ("ip6-localhost", "loopback"),
    ("ip6-loopback", "loopback"),
    ("local", "private"),
    ("localdomain", "private"),
    ("internal", "private"),
    ("home.arpa", "private"),
    ("in-addr.arpa", "reserved"),
    ("ip6.arpa", "reserved"),
    ("invalid", "reserved"),
    ("onion", "reserved"),
)
"""Names that lead nowhere public, they and all below them; they aren't even looked up."""

_V4_NETWORKS: Final = tuple((ipaddress.IPv4Network(text), kind) for text, kind in _V4)
_V6_NETWORKS: Final = tuple((ipaddress.IPv6Network(text), kind) for text, kind in _V6)


class Refused(Exception):
    """An address that must not be reached. The message names what the user or a page wrote, and the kind."""


def kind_of(address: Ip) -> Kind | None:
    """What ``address`` is for; None when it is public.

    NAT64's own prefix counts as the IPv4 address within, because networks with IPv6 alone reach every IPv4
    page that way. Everything else that wraps an IPv4 address is refused: no page needs it.
    """
    if isinstance(address, ipaddress.IPv4Address):
        return next((kind for network, kind in _V4_NETWORKS if address in network), None)
    if address.scope_id is not None:
        return "link-local"
    if address in _NAT64:
        return kind_of(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    for network, kind in _V6_NETWORKS:
        if address in network:
            return kind
    if address not in _PUBLIC_V6:
        return "reserved"
    return "embedded" if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP else None


def kind_of_host(host: str) -> Kind | None:
    """What ``host``, a name or an address, is for by its wording; None when it says nothing."""
    address = ip_of(host)
    if address is not None:
        return kind_of(address)
    for name, kind in _NAMES:
        if host == name or host.endswith("." + name):
            return kind
    return None


@dataclass(frozen=True, slots=True)
class Borders:
    """What may be reached. Both checks are needed: of the host before it is looked up, and of every address
    that it has before one is connected to.

    Args:
        allowed: ``host:port`` of private places that the owner opened, exact and normalised.
    """

    allowed: frozenset[str] = frozenset()

    @classmethod
    def of(cls, entries: Iterable[str]) -> Borders:
        """From ``allow_private`` of lab.toml; an entry that is no host and port opens nothing."""
        allowed = set()
        for entry in entries:
            try:
                allowed.add(target_of(f"http://{entry}/").authority)
            except BadAddress:
                continue
        return cls(frozenset(allowed))

    def check_host(self, target: Target) -> None:
        """
        Raises:
            Refused: the host says by itself that it leads to no public place.
        """
        self._judge(target, kind_of_host(target.host))

    def check_addresses(self, target: Target, addresses: Sequence[Ip]) -> None:
        """
        Raises:
            Refused: one of the addresses isn't public: a name with two faces is trusted in neither.
        """
        for address in addresses:
            self._judge(target, kind_of(address))

    def opens(self, target: Target) -> bool:
        """Whether the owner named ``target`` in ``allow_private``."""
        return target.authority in self.allowed

    def _judge(self, target: Target, kind: Kind | None) -> None:
        if kind is None or (kind in MAY_BE_ALLOWED and self.opens(target)):
            return
        raise Refused(f"{target.host} leads to {WORDS[kind]}; only public addresses are fetched.")
