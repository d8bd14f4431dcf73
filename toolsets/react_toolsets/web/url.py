"""Parses URLs strictly: anything that parsers could read differently is refused."""

from __future__ import annotations

import re
import unicodedata
from ipaddress import IPv4Address
from urllib.parse import quote

from react_run.support import dataclass
from react_toolsets.web import address
from react_toolsets.web.refused import Refused

_PORTS = {"http": 80, "https": 443}
_BAD_PORTS = frozenset({
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
    109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
    526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
    3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
})  # fmt: skip
"""Ports of other protocols, which the Fetch standard blocks."""
_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\%<>\"^`{|}]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """The target of a request: ``host`` is an ASCII name or a normalised address, ``path`` includes the query."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The host, with the port if it is not the default one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The complete URL, without a fragment."""
        return f"{self.scheme}://{self.authority}{self.path}"


def parse(url: str) -> Target:
    """Parse an http or https URL.

    Raises:
        Refused: The reason is scheme, host, userinfo, characters or port.
    """
    url = url.strip(" \t\r\n")
    scheme, colon, rest = url.partition(":")
    scheme = scheme.lower()
    if not colon or scheme not in _PORTS:
        raise Refused(
            "scheme", f"Only URLs like https://example.com/ can be fetched, with http or https; not {url[:80]!r}."
        )
    if not rest.startswith("//"):
        raise Refused("host", f"{url[:80]!r} has no host; write it as {scheme}://host/path.")
    end = re.search(r"[/?#]", rest[2:])
    authority, rest = (rest[2:], "") if end is None else (rest[2:][: end.start()], rest[2:][end.start() :])
    host, port = _split(authority)
    return Target(scheme=scheme, host=_host(host), port=_port(port, scheme), path=_path(rest))


def _split(authority: str) -> tuple[str, str]:
    if _FORBIDDEN.search(authority):
        raise Refused("characters", "The host of the URL contains characters that do not belong there.")
    if "@" in authority:
        raise Refused("userinfo", "URLs with a user name or password are not fetched; leave that part out.")
    if not authority.startswith("["):
        host, _, port = authority.partition(":")
        return host, port
    host, bracket, port = authority[1:].partition("]")
    if not bracket or (port and not port.startswith(":")):
        raise Refused("host", "The host of the URL is not a valid address.")
    return f"[{host}]", port[1:]


def _port(text: str, scheme: str) -> int:
    port = int(text) if re.fullmatch(r"[0-9]{1,5}", text) else (-1 if text else _PORTS[scheme])
    if not 0 < port < 65536 or port in _BAD_PORTS:
        raise Refused("port", f"Port {text[:20]} is not one that web pages are served on.")
    return port


def _host(host: str) -> str:
    if host.startswith("["):
        try:
            return str(address.parse(host[1:-1]))
        except ValueError:
            raise Refused("host", "The host of the URL is not a valid IPv6 address.") from None
    if not host.removesuffix("."):
        raise Refused("host", "The URL has no host.")
    try:
        name = ascii_name(host)
    except ValueError:
        raise Refused("characters", "The host of the URL contains characters that do not belong there.") from None
    return _ipv4(name) if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", name.rpartition(".")[2]) else name


def ascii_name(host: str) -> str:
    """A host name in lower-case ASCII, as resolvers need it; full-width forms become normal characters.

    Raises:
        ValueError: ``host`` is not a host name.
    """
    host = unicodedata.normalize("NFKC", host)
    if not host.isascii():
        import idna

        host = idna.encode(host, uts46=True).decode()  # its errors are ValueErrors
    name = host.lower().removesuffix(".")
    if len(name) > 253 or not _NAME.fullmatch(name):
        raise ValueError(f"{name[:80]!r} is not a host name")
    return name


def _ipv4(name: str) -> str:
    """An IPv4 address in any form that resolvers and browsers accept: 1 to 4 parts, decimal, octal or hexadecimal."""
    try:
        parts = [_number(part) for part in name.split(".")]
    except ValueError:
        parts = []
    *heads, last = parts or [-1]
    if len(parts) > 4 or any(head > 255 for head in heads) or not 0 <= last < 256 ** (4 - len(heads)):
        raise Refused("host", "The host of the URL is not a valid IPv4 address.")
    return str(IPv4Address(sum(head << 8 * (3 - place) for place, head in enumerate(heads)) + last))


def _number(part: str) -> int:
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8) if part.startswith("0") else int(part)


def _path(rest: str) -> str:
    """The path and query, percent-encoded where necessary."""
    path, question, query = rest.partition("#")[0].partition("?")
    safe = "/%:@!$&'()*+,;=~"
    return quote(path or "/", safe=safe, errors="replace") + question + quote(query, safe=f"{safe}?", errors="replace")
