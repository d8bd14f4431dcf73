"""The HTTP client that the SDK works with: it notes what became of a request, and does not read answers without end.

This module imports the SDK's HTTP library: only the host's thread does so.
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
"""Headers that do not hold for what is decoded."""


def http_client(
    headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
) -> httpx2.AsyncClient:
    """A client for one server; it reads from the system, as the SDK does, which certificates are good."""
    timeout = timeout or httpx2.Timeout(CONNECT_SECONDS, read=None)  # our own clock decides how long is too long
    return _Telling(headers=headers, timeout=timeout, auth=auth)


class _Telling(httpx2.AsyncClient):
    """Notes when a request was not taken: nobody was there, or it was for a session that the server has forgotten."""

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
    """``response``, of which no more than ``lines.MAX_MESSAGE`` can be read; the SDK limits events, each for itself."""
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
    """What is in a response, decompressed."""

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
                raise httpx2.StreamError("the answer is too large")
            yield part

    async def aclose(self) -> None:
        await self._response.aclose()
