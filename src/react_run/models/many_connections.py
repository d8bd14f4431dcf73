"""An httpx transport on aiohttp's connections, for many concurrent calls: each costs a third of httpx's own.

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
"""aiohttp's exceptions and httpx's equivalents; the first match counts."""


class ManyConnections(httpx.AsyncBaseTransport):
    """One connection per concurrent call, kept for later calls. No cookies, no redirects, no retries.

    Args:
        verify: How to verify certificates; ``None`` without TLS.
        proxy: The proxy, if there is one.
        kept: Seconds to keep an idle connection.
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
        """Send one request, and return the response once its headers have arrived.

        Raises:
            httpx.RequestError: As httpx's own transport.
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
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect),  # the caller handles other timeouts
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
        """Release the connection, or close it if the response was not read to the end."""
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
