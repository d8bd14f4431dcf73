"""Reads a server's response completely or event by event, with timeouts and typed failures (behaviour S6)."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from pydantic_core import from_json

from react_run.errors import ModelError
from react_run.models.failures import failure, model_error
from react_run.models.sse import EventDecoder, EventTooLarge

if TYPE_CHECKING:
    import httpx

LARGEST_BODY = 64 * 2**20
"""Maximum bytes of a response."""

DRAIN_TIME = 0.05
"""Seconds to wait for the end of a stream that is done, so that its connection can be reused."""

USAGE_TIME = 5.0
"""Seconds to wait for the usage that may follow a finished reply."""

_SHOWN_ERROR = 65_536


class Reply:
    """A response whose body has not been read yet. Always close it.

    Raises (from everything that reads):
        ModelError: The connection broke, the read timed out, or the body cannot be decompressed.
    """

    def __init__(
        self,
        response: httpx.Response,
        deadline: float,
        provider: str,
        sent: Mapping[str, str],
        free: Callable[[], Awaitable[None]],
    ) -> None:
        self._response = response
        self._free: Callable[[], Awaitable[None]] | None = free
        self._body = aiter(_body(response))
        self._deadline = deadline
        self._provider = provider
        self._sent = sent
        self._decoder = EventDecoder()
        self._events: deque[bytes] = deque()
        self._ended = False

    @property
    def is_event_stream(self) -> bool:
        """Whether the body is a stream of events; a server may ignore the request to stream."""
        return "text/event-stream" in self._response.headers.get("content-type", "").lower()

    async def json(self) -> object:
        """The whole body, decoded.

        Raises:
            ModelError: The body could not be read, or is not JSON (``bad_response``).
        """
        try:
            return decode(await self._read(), self._provider)
        finally:
            await self.close()

    async def event(self) -> bytes | None:
        """The data of the next event; ``None`` at the end of the stream."""
        while not self._events and not self._ended:
            chunk = await self._chunk()
            self._ended = not chunk
            try:
                self._events.extend(self._decoder.feed(chunk) if chunk else self._decoder.finish())
            except EventTooLarge:
                words = f"{self._provider} sent an endless event"
                raise model_error("bad_response", words, provider=self._provider, retryable=False) from None
        return self._events.popleft() if self._events else None

    def hurry(self, seconds: float) -> None:
        """Limit the wait for the rest to ``seconds``."""
        self._deadline = min(self._deadline, asyncio.get_running_loop().time() + seconds)

    async def drain(self) -> None:
        """Briefly read the rest of a finished stream, so that the connection can be reused."""
        self.hurry(DRAIN_TIME)
        with suppress(ModelError):
            while await self._chunk():
                pass

    async def close(self) -> None:
        """Release the connection, or close it if the body was not read to the end."""
        free, self._free = self._free, None
        if free is not None:
            try:
                await self._response.aclose()
            finally:
                await free()

    async def refusal(self) -> ModelError:
        """The error for a response without success."""
        said: object = ""
        try:
            text = (await self._read(_SHOWN_ERROR)).decode("utf-8", "replace")
            said = text
            said = json.loads(text)
        except (ModelError, ValueError, RecursionError):
            pass  # the status is enough
        finally:
            await self.close()
        headers = self._response.headers
        if self._response.is_redirect:
            said = f"it redirects to {headers.get('location', 'nowhere')}, which is not followed: set base_url to that"
        status = self._response.status_code
        return failure(status, said, headers, provider=self._provider, secrets=secrets_of(self._sent))

    async def _read(self, most: int | None = None) -> bytes:
        parts: list[bytes] = []
        size = 0
        while (most is None or size < most) and (chunk := await self._chunk()):
            parts.append(chunk)
            size += len(chunk)
            if size > LARGEST_BODY:
                words = f"{self._provider} sent more than {LARGEST_BODY} bytes"
                raise model_error("bad_response", words, provider=self._provider, retryable=False)
        return b"".join(parts)

    async def _chunk(self) -> bytes:
        with typed_errors(self._provider, self._sent):
            async with asyncio.timeout_at(self._deadline):
                while (chunk := await anext(self._body, None)) is not None:
                    if chunk:
                        return chunk
                return b""


def _body(response: httpx.Response) -> AsyncIterable[bytes]:
    """The bytes of a response; what is not compressed skips httpx's two layers of generators, which cost each chunk."""
    import httpx

    if "content-encoding" in response.headers or not isinstance(response.stream, httpx.AsyncByteStream):
        return response.aiter_bytes()
    return response.stream


def decode(data: bytes, provider: str) -> object:
    """Parse ``data`` as JSON.

    Raises:
        ModelError: ``bad_response``: it is not JSON.
    """
    try:
        value: object = from_json(data)
        return value
    except (ValueError, RecursionError):  # bytes that are not UTF-8, halves of surrogate pairs, deep nesting
        text = data.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        words = f"{provider} sent something that is not JSON: {text[:200]!r}"
        raise model_error("bad_response", words, provider=provider) from None
    return value


def secrets_of(headers: Mapping[str, str]) -> Iterable[str]:
    """The values of ``headers`` that must not be shown."""
    for name, value in headers.items():
        if any(word in name.lower() for word in ("authorization", "key", "token", "secret", "cookie")):
            yield value.removeprefix("Bearer ")


class typed_errors:  # noqa: N801  # reads as a phrase where it is used: with typed_errors(…)
    """Converts exceptions of the HTTP library, and timeouts, to :class:`ModelError`."""

    def __init__(self, provider: str, sent: Mapping[str, str]) -> None:
        self._provider = provider
        self._sent = sent

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, ModelError):
            typed = transport_error(error, self._provider, self._sent)
            if typed is not None:
                raise typed from None


def transport_error(error: Exception, provider: str, sent: Mapping[str, str]) -> ModelError | None:
    """The typed form of a transport error; ``None`` if it is another error."""
    import ssl

    import httpx

    said = str(error) or type(error).__name__

    def typed(code: str, words: str, *, retryable: bool | None = None) -> ModelError:
        return model_error(code, words, provider=provider, retryable=retryable, secrets=secrets_of(sent))

    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return typed(
            "timeout", f"{provider} did not answer in time ({type(error).__name__}); `timeout` sets how long to wait"
        )
    if isinstance(error, httpx.DecodingError):
        return typed("bad_response", f"{provider} sent a body that cannot be decompressed: {said}")
    if isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL | httpx.LocalProtocolError | UnicodeEncodeError):
        return typed("invalid_request", f"the request to {provider} cannot be sent: {said}", retryable=False)
    if isinstance(error, httpx.TransportError | ssl.SSLError | OSError):
        certificate = isinstance(error, ssl.SSLError) or "CERTIFICATE" in said.upper()
        hint = "" if certificate or not isinstance(error, httpx.ConnectError) else " Check base_url and the network."
        failed = typed("connection", f"the connection to {provider} failed: {said}.{hint}", retryable=not certificate)
        failed.reached = not (certificate or isinstance(error, httpx.ConnectError | httpx.ConnectTimeout))
        return failed
    return None
