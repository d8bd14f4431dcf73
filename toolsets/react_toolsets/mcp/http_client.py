"""The HTTP client for the SDK: it notes what happened to a request, and limits the size of responses.

This module imports the SDK's HTTP library, so only the host's thread may import it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2

from react_toolsets.mcp import lines
from react_toolsets.mcp.requests import Request, request_of_task

CONNECT_SECONDS = 30.0
SESSION = "mcp-session-id"
ENCODED = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that do not apply to a decoded response."""


def http_client(
    headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
) -> httpx2.AsyncClient:
    """A client for one server; like the SDK, it verifies certificates against those of the system."""
    timeout = timeout or httpx2.Timeout(CONNECT_SECONDS, read=None)  # `Request` has its own timeouts
    return _Telling(headers=headers, timeout=timeout, auth=auth)


class _Telling(httpx2.AsyncClient):
    """Notes that a request was not accepted: no connection, or the server no longer knows the session."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        waiting = request_of_task.get()
        stream = options.pop("stream", False)
        try:
            response = _limited(await super().send(request, stream=True, **options), waiting)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            if waiting is not None:
                waiting.refused = True
            raise
        if waiting is not None and response.status_code == 404 and SESSION in request.headers:
            waiting.refused = waiting.forgotten = True
        if not stream:
            try:
                await response.aread()
            finally:
                await response.aclose()
        return response


def _limited(response: httpx2.Response, waiting: Request | None) -> httpx2.Response:
    """``response`` with at most ``lines.MAX_MESSAGE`` readable bytes; the SDK limits each event of a stream."""
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        return response
    limited = httpx2.Response(
        response.status_code,
        headers=[(key, value) for key, value in response.headers.multi_items() if key not in ENCODED],
        stream=_Limited(response, waiting),
        request=response.request,
        extensions=response.extensions,
        history=response.history,
    )
    limited.next_request = response.next_request
    return limited


class _Limited(httpx2.AsyncByteStream):
    """The decompressed body of a response."""

    def __init__(self, response: httpx2.Response, waiting: Request | None) -> None:
        self._response = response
        self._waiting = waiting

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = lines.MAX_MESSAGE
        async for part in self._response.aiter_bytes():
            left -= len(part)
            if left < 0:
                if self._waiting is not None:
                    self._waiting.too_large = True
                raise httpx2.StreamError("the response is too large")
            yield part

    async def aclose(self) -> None:
        await self._response.aclose()
