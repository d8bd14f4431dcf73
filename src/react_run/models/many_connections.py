"""A transport of httpx on aiohttp's connections, for many calls in flight: each costs a third of what httpx's own does.

Imported with the first call that needs it (docs/decisions/0019-free-connections.md).
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import aiohttp
import httpx
from yarl import URL

_LONGEST_HEADER = 65_536
"""Bytes."""
_ERRORS: tuple[tuple[type[Exception], type[httpx.RequestError]], ...] = (
    (aiohttp.ConnectionTimeoutError, httpx.ConnectTimeout),
    (aiohttp.ServerTimeoutError, httpx.ReadTimeout),
    (aiohttp.ClientHttpProxyError, httpx.ProxyError),
    (aiohttp.ClientConnectorError, httpx.ConnectError),
    (aiohttp.ClientSSLError, httpx.ConnectError),
    (aiohttp.InvalidURL, httpx.UnsupportedProtocol),
    (aiohttp.ClientOSError, httpx.ReadError),
    (aiohttp.ClientError, httpx.RemoteProtocolError),  # cut off, or not HTTP
    (ValueError, httpx.LocalProtocolError),  # a line break in a header
)
"""What aiohttp raises, and what that is for httpx; the first that fits counts."""


class ManyConnections(httpx.AsyncBaseTransport):
    """As many connections as there are calls, kept for the next ones. No cookies, no redirects, no second tries.

    Args:
        verify: How certificates are verified; None where the address has none.
        proxy: The proxy, if there is one.
        kept: Seconds for which an idle connection is kept.
    """

    def __init__(self, *, verify: ssl.SSLContext | None, proxy: str | None, kept: float) -> None:
        self._proxy = proxy
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=kept, ssl=verify or True),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request; the response comes once its headers are there.

        Raises:
            httpx.RequestError: As httpx's own transport raises.
        """
        connect = request.extensions.get("timeout", {}).get("connect")
        with _as_httpx():
            response = await self._session.request(
                request.method,
                URL(str(request.url), encoded=True),
                headers=[(name.decode("ascii"), value.decode("latin-1")) for name, value in request.headers.raw],
                data=request.stream,
                allow_redirects=False,
                proxy=self._proxy,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect),  # the rest is the caller's to watch
            )
        return httpx.Response(response.status, headers=response.raw_headers, stream=_Body(response), request=request)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._session.close()


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_httpx():
            async for chunk in self._response.content.iter_any():
                yield chunk

    async def aclose(self) -> None:
        """Give the connection back; one whose answer was not read to its end is closed."""
        if self._response.content.at_eof():
            self._response.release()
        else:
            self._response.close()


@contextmanager
def _as_httpx() -> Iterator[None]:
    try:
        yield
    except (aiohttp.ClientError, ValueError) as error:
        kind = next(kind for known, kind in _ERRORS if isinstance(error, known))
        raise kind(str(error) or type(error).__name__) from error
