"""POST over keep-alive connections, with a stack of free ones per event loop.

httpx has a pool whose work per request grows with the number of connections, so that two hundred concurrent calls cost
twenty times as much as ten. Here, each call takes a connection from a stack and puts it back, which is the same work
for any number of calls. With many concurrent calls, further connections use aiohttp, which is faster, but not worth
its import for a few calls (docs/decisions/0019-free-connections.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from react_run.models.per_loop import PerLoop
from react_run.models.reply import Reply, typed_errors

if TYPE_CHECKING:
    import httpx

    from react_run.models.many_connections import ManyConnections

_CONNECT_TIME = 20.0
_KEPT_SECONDS = 30.0
_FEW = 8
"""The number of concurrent calls that use httpx; beyond that, all use aiohttp."""


class Connections:
    """The connections of one model to one URL, one stack per event loop: opened on demand, closed with the loop."""

    def __init__(self, *, url: str, provider: str, timeout: float) -> None:
        self._provider = provider
        self._timeout = timeout
        self._stacks = PerLoop(lambda: _Stack(url, timeout), _Stack.close)

    async def post(self, headers: Mapping[str, str], pieces: list[bytes], length: int) -> Reply:
        """Send one request and return the response once its headers have arrived.

        Raises:
            ModelError: The request could not be sent, timed out, or its status is not a success.
        """
        import httpx

        deadline = asyncio.get_running_loop().time() + self._timeout
        content = pieces[0] if len(pieces) == 1 else _each(pieces)
        with typed_errors(self._provider, headers):
            stack = await self._stacks.get()
            sized = {**headers, "Content-Length": str(length)}
            request = httpx.Request("POST", stack.url, headers=sized, content=content, extensions=stack.extensions)
            async with asyncio.timeout_at(deadline):
                response, free = await stack.send(request)
        reply = Reply(response, deadline, self._provider, headers, free)
        if not response.is_success:
            raise await reply.refusal()
        return reply

    async def open(self) -> None:
        """Create the stack of the running loop; nothing is connected yet."""
        await self._stacks.get()

    async def close(self) -> None:
        """Close the connections of the running loop; a later request opens new ones."""
        await self._stacks.close()


class _Stack:
    """Free connections, the last used on top; each is an httpx transport with one connection."""

    def __init__(self, url: str, timeout: float) -> None:
        import httpx

        self.url = httpx.URL(url)
        # Whoever reads has a deadline for the whole reply; a second timer for every chunk would only cost time.
        self.extensions = {"timeout": httpx.Timeout(None, connect=min(timeout, _CONNECT_TIME)).as_dict()}
        # Without TLS there is nothing to verify, and loading the certificates costs tens of milliseconds.
        self._verify = httpx.create_ssl_context() if self.url.scheme == "https" else False
        self._proxy = _proxy(self.url.scheme, self.url.host)
        self._free: list[tuple[httpx.AsyncHTTPTransport, float]] = []
        self._open: set[httpx.AsyncHTTPTransport] = set()
        self._many: ManyConnections | None = None

    async def send(self, request: httpx.Request) -> tuple[httpx.Response, Callable[[], Awaitable[None]]]:
        """The response, and the callback that frees its connection when it is closed."""
        if self._many is not None or len(self._open) - len(self._free) >= _FEW:
            return await (await self._of_many()).handle_async_request(request), _nothing
        transport = await self._taken()
        try:
            response = await transport.handle_async_request(request)
        except BaseException:
            await self._discard(transport)
            raise
        return response, partial(self._put_back, transport)

    async def _put_back(self, transport: httpx.AsyncHTTPTransport) -> None:
        """Release a connection."""
        if transport not in self._open:
            return  # the stack has been closed since
        if self._many is not None:
            await self._discard(transport)
            return
        self._free.append((transport, asyncio.get_running_loop().time()))

    async def _taken(self) -> httpx.AsyncHTTPTransport:
        import httpx

        while self._free and asyncio.get_running_loop().time() - self._free[0][1] > _KEPT_SECONDS:
            await self._discard(self._free.pop(0)[0])
        if self._free:
            return self._free.pop()[0]
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=_KEPT_SECONDS)
        transport = httpx.AsyncHTTPTransport(verify=self._verify, limits=limits, proxy=self._proxy)
        self._open.add(transport)
        return transport

    async def _of_many(self) -> ManyConnections:
        """Switch to another pool; the free connections are no longer needed."""
        many = self._many
        if many is None:
            from react_run.models.many_connections import ManyConnections

            verify = None if isinstance(self._verify, bool) else self._verify
            many = self._many = ManyConnections(verify=verify, proxy=self._proxy, kept=_KEPT_SECONDS)
            while self._free:
                await self._discard(self._free.pop()[0])
        return many

    async def _discard(self, transport: httpx.AsyncHTTPTransport) -> None:
        self._open.discard(transport)
        await transport.aclose()

    async def close(self) -> None:
        """Close all connections, those in use included."""
        transports, self._open, self._free = self._open, set(), []
        for transport in transports:
            await transport.aclose()
        many, self._many = self._many, None
        if many is not None:
            await many.aclose()


async def _nothing() -> None:
    """An aiohttp connection is free once its response is closed."""


def _proxy(scheme: str, host: str) -> str | None:
    """The proxy for ``host`` from the environment, if any."""
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    return None if proxy_bypass(host) else proxies.get(scheme) or proxies.get("all")


async def _each(pieces: list[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
