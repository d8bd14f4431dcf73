"""Decides which hosts and addresses may be reached: public ones, within the lists of an agent file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from react_run.support import dataclass
from react_toolsets.web.address import Address, parse, why_not_public
from react_toolsets.web.refused import Refused
from react_toolsets.web.url import Target, ascii_name

_METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Pattern:
    """An entry of a host list: ``example.com`` (with subdomains), ``*.example.com`` or an address; optionally a port.

    ``address`` is set if the entry is an IP address, ``port`` if it has a port.
    """

    host: str
    port: int | None = None
    address: Address | None = None

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Parse an entry; an IPv6 address with a port must be in brackets.

        Raises:
            ValueError: It is neither a host nor an address, with or without a port.
        """
        host, port = text.strip().lower(), ""
        if host.startswith("["):
            host, _, port = host[1:].partition("]")
            port = port.removeprefix(":")
        elif host.count(":") == 1:
            host, _, port = host.partition(":")
        try:
            number = _port(port) if port else None
            with suppress(ValueError):
                return cls(host=host, port=number, address=parse(host))
            domain = host.removeprefix("*.")
            return cls(host=host[: -len(domain)] + ascii_name(domain), port=number)
        except ValueError:
            raise ValueError(f"{text!r} is not a host such as example.com, *.example.com or 192.0.2.1:8080") from None

    @property
    def is_private(self) -> bool:
        """Whether it is a non-public address with a port; in an allow list, it permits exactly that address."""
        return self.address is not None and self.port is not None and bool(why_not_public(self.address))

    def names(self, host: str, port: int) -> bool:
        """Whether this entry matches ``host`` and ``port``."""
        if self.port not in (None, port):
            return False
        if self.address is not None:
            return host == str(self.address)
        domain = self.host.removeprefix("*.")
        return host.endswith(f".{domain}") or (host == domain == self.host)


@dataclass(frozen=True, kw_only=True, slots=True)
class HostPolicy:
    """The host rules of a toolset.

    ``allow``, if not empty, lists the only hosts that may be reached, ``deny`` hosts that must not. An IP address
    *with a port* in ``allow`` permits exactly that address and port even if it is not public. A name does not, because
    the owner of its DNS decides what it resolves to.
    """

    allow: Sequence[Pattern] = ()
    deny: Sequence[Pattern] = ()

    def check_host(self, target: Target) -> None:
        """Check a host by its name, before it is resolved.

        Raises:
            Refused: The reason is hosts, loopback or metadata.
        """
        host, port = target.host, target.port
        if any(entry.names(host, port) for entry in self.deny):
            raise Refused("hosts", f"{host} is on the deny list of this agent. Use another source.")
        if self.allow and not any(entry.names(host, port) for entry in self.allow):
            names = ", ".join(entry.host for entry in self.allow)
            raise Refused("hosts", f"{host} is not one of the hosts this agent may read: {names[:300]}.")
        if host == "localhost" or host.endswith(".localhost"):
            raise Refused("loopback", _refusal(host, "loopback"))
        if host in _METADATA_NAMES:
            raise Refused("metadata", _refusal(host, "metadata"))

    def check_addresses(self, host: str, port: int, texts: Sequence[str]) -> list[str]:
        """Check all addresses of ``host``, and return them.

        Raises:
            Refused: There is no address, or one of them is not public or is denied.
        """
        found = list(self._checked(host, port, texts))
        if not found:
            raise Refused("dns", f"{host} has no address. Check the spelling, or use another source.")
        return found

    def _checked(self, host: str, port: int, texts: Sequence[str]) -> Iterator[str]:
        for text in texts:
            found = parse(text)
            if any(entry.names(str(found), port) for entry in self.deny):
                raise Refused("hosts", f"{host} is on the deny list of this agent. Use another source.")
            reason = why_not_public(found)
            if reason and not any(entry.address == found and entry.port == port for entry in self.allow):
                raise Refused(reason, _refusal(host, reason))
            yield str(found)


def _port(text: str) -> int:
    port = int(text)
    if not 0 < port < 65536:
        raise ValueError(text)
    return port


def _refusal(host: str, reason: str) -> str:
    return f"{host} does not resolve to a public address ({reason}). Only pages on the public internet can be fetched."
