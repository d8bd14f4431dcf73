"""Decides which IP addresses are public: all except those listed here, directly or embedded in IPv6."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address

_REASONS: dict[str, str] = {
    "metadata": "169.254.169.254 169.254.170.2 169.254.170.23 169.254.42.42 168.63.129.16 192.0.0.192 100.100.100.200 "
    "fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:c1::a9fe:a9fe fd00:42::42",
    "loopback": "127.0.0.0/8 0.0.0.0/8 ::1 ::",
    "private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10",
    "shared": "100.64.0.0/10",
    "linklocal": "169.254.0.0/16 fe80::/10",
    "multicast": "224.0.0.0/4 ff00::/8",
    "reserved": "192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 "
    "2001::/23 2001:db8::/32 2002::/16 3fff::/20",
}
_NETWORKS: list[tuple[IPv4Network | IPv6Network, str]] = [
    (ip_network(network), reason) for reason, networks in _REASONS.items() for network in networks.split()
]
_MAPPED = IPv6Network("::ffff:0:0/96")
_TRANSLATED = IPv6Network("64:ff9b::/96")
_GLOBAL = IPv6Network("2000::/3")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_LAST_32_BITS = (
    _MAPPED,
    _TRANSLATED,
    IPv6Network("::/96"),  # IPv4-compatible
    IPv6Network("::ffff:0:0:0/96"),  # SIIT
    IPv6Network("64:ff9b:1::/48"),  # local-use NAT64
)
"""Networks in which the last 32 bits of an IPv6 address are an IPv4 address."""
_ISATAP = (0x00005EFE, 0x02005EFE)


def parse(text: str) -> Address:
    """Parse an address; an IPv4-mapped IPv6 address becomes the IPv4 address.

    Raises:
        ValueError: ``text`` is not an address.
    """
    address = ip_address(text)
    return (address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address


def why_not_public(address: Address) -> str:
    """The reason why ``address`` must not be reached; empty for a public address.

    A reason for an IPv4 address embedded in an IPv6 address (6to4, NAT64, ISATAP, …) applies to the whole address.
    """
    if isinstance(address, IPv6Address):
        if address.is_unspecified or address == IPv6Address(1):
            return "loopback"
        for hidden in _hidden(address):
            if reason := why_not_public(hidden):
                return reason
    for network, reason in _NETWORKS:
        if address.version == network.version and address in network:
            return reason
    if isinstance(address, IPv6Address) and not any(address in net for net in (_GLOBAL, _MAPPED, _TRANSLATED)):
        return "reserved"
    return ""


def _hidden(address: IPv6Address) -> Iterator[IPv4Address]:
    number = int(address)
    if any(address in network for network in _LAST_32_BITS) or number >> 32 & 0xFFFFFFFF in _ISATAP:
        yield IPv4Address(number & 0xFFFFFFFF)
    if address in _SIX_TO_FOUR:
        yield IPv4Address(number >> 80 & 0xFFFFFFFF)
