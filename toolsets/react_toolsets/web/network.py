"""Opens all sockets of ``web_fetch``, only to addresses that have just been checked."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence
from functools import partial
from ipaddress import ip_address
from typing import Protocol

import httpcore

from react_run.support import in_thread
from react_toolsets.web.policy import HostPolicy

CONNECT_SECONDS = 5.0
"""Timeout for one address, so that an unreachable one leaves time for the next."""


class Network(Protocol):
    """The network access of the toolset; tests replace it."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """The addresses of ``host``, best first; empty if it does not exist."""

    async def connect(self, address: str, port: int, seconds: float) -> httpcore.AsyncNetworkStream:
        """Connect to ``address`` within ``seconds``."""


class SystemNetwork:
    """The machine's own resolver and sockets."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Use the system's resolver."""
        try:
            found = await in_thread(partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM))
        except socket.gaierror:
            return []
        return [str(entry[4][0]) for entry in found]

    async def connect(self, address: str, port: int, seconds: float) -> httpcore.AsyncNetworkStream:
        """Open a TCP connection."""
        return await httpcore.AnyIOBackend().connect_tcp(address, port, timeout=seconds)


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """Resolves a name once, checks all its addresses, and connects to one of exactly these."""

    def __init__(self, network: Network, policy: HostPolicy) -> None:
        self._network = network
        self._policy = policy

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  # httpcore calls it so
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to ``host``.

        Raises:
            Refused: Not all of its addresses are public.
            httpcore.ConnectError: None of its addresses could be reached.
        """
        texts = [host] if _is_address(host) else await self._network.resolve(host, port)
        failure: Exception = httpcore.ConnectError("no address")
        for address in self._policy.check_addresses(host, port, texts):
            try:
                return await self._network.connect(address, port, CONNECT_SECONDS)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
