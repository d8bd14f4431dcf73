"""POST over keep-alive connections, one pool per event loop.

httpx is used one layer below its client, and imported when the first request is sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

from react_run.models.per_loop import PerLoop
from react_run.models.reply import Reply, typed_errors

_CONNECT_TIME = 20.0


class Connections:
    """The connections of one model to one URL, a pool per event loop: opened on first use, closed with its loop."""

    def __init__(self, *, url: str, provider: str, timeout: float) -> None:
        self._provider = provider
        self._timeout = timeout
        self._pools = PerLoop(lambda: _Pool(url, timeout), _Pool.close)

    async def post(self, headers: Mapping[str, str], pieces: list[bytes], length: int) -> Reply:
        """Send one request and return the answer once its headers are there.

        Raises:
            ModelError: It could not be sent, nothing came back in time, or the status is not a success.
        """
        import httpx

        deadline = asyncio.get_running_loop().time() + self._timeout
        content = pieces[0] if len(pieces) == 1 else _each(pieces)
        with typed_errors(self._provider, headers):
            pool = await self._pools.get()
            sized = {**headers, "Content-Length": str(length)}
            request = httpx.Request("POST", pool.url, headers=sized, content=content, extensions=pool.extensions)
            async with asyncio.timeout_at(deadline):
                response = await pool.transport.handle_async_request(request)
        reply = Reply(response, deadline, self._provider, headers)
        if not response.is_success:
            raise await reply.refusal()
        return reply

    async def open(self) -> None:
        """Make the pool of the running loop; nothing is connected yet."""
        await self._pools.get()

    async def close(self) -> None:
        """Close the pool of the running loop; a later request makes a new one."""
        await self._pools.close()


class _Pool:
    """httpx one layer below its client: what the client adds for each call (cookies, redirects, merging) is unused."""

    def __init__(self, url: str, timeout: float) -> None:
        import httpx

        self.url = httpx.URL(url)
        self.extensions = {"timeout": httpx.Timeout(timeout, connect=min(timeout, _CONNECT_TIME)).as_dict()}
        self.transport = httpx.AsyncHTTPTransport(
            # Without TLS there is nothing to verify, and loading the certificates costs tens of milliseconds.
            verify=self.url.scheme == "https",
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=30),
            proxy=_proxy(self.url.scheme, self.url.host),
        )

    async def close(self) -> None:
        await self.transport.aclose()


def _proxy(scheme: str, host: str) -> str | None:
    """The proxy that the environment names for ``host``, when it names one."""
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    return None if proxy_bypass(host) else proxies.get(scheme) or proxies.get("all")


async def _each(pieces: list[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
