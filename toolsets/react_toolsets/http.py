"""A small HTTP client with limits: one timeout, a maximum body size, few retries, and a cache per run.

:class:`JsonClient` queries a JSON endpoint; :func:`retrying` and :func:`read_body` are also used by ``web_fetch``.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import zlib
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from functools import cache, partial
from http import HTTPStatus
from random import uniform
from types import AsyncGeneratorType
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar
from urllib.parse import urlencode, urlsplit

from react_run import ToolError
from react_run.support import dataclass, retry_after

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

MAX_BODY = 1024 * 1024
"""The most bytes of a JSON response, after decompression."""
MAX_REDIRECTS = 3
_LAYERS = 4
"""The most nested generators that a body passes through (httpx on httpcore)."""
READS = ("GET", "HEAD")
"""The methods that change nothing; only these are retried and follow redirects."""
PAUSES = (0.2, 0.6)
"""Seconds before the second and third attempt if the server does not say; with a jitter of 50 %."""
ERROR_CODES = ("rate_limited", "server_error", "network_error", "http_error", "invalid_response")
"""The error codes of :class:`JsonClient`."""


class RequestFailed(Exception):
    """A request without a usable response.

    Args:
        code: One of ``ERROR_CODES``, or a code of the toolset that raises it.
        message: What happened and what to do instead, for the model.
        transient: Whether the same request may succeed soon.
        retry_after: Seconds that the server asked us to wait.
        came: The head of a body that is too large.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        transient: bool = False,
        retry_after: float | None = None,
        came: bytes = b"",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.transient = transient
        self.retry_after = retry_after
        self.came = came


class RequestError(ToolError):
    """The request of a tool failed; another one may succeed."""

    opaque = True


class Once(Generic[T]):
    """A cache for one run: equal requests, even concurrent ones, are sent once.

    Failures are not cached. Of more than ``KEPT`` entries, the oldest are dropped.
    """

    KEPT: ClassVar[int] = 64

    def __init__(self) -> None:
        self._found: dict[str, T] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def get(self, question: str, find: Callable[[], Awaitable[T]]) -> T:
        """The cached answer to ``question``; ``find`` is awaited only if there is none."""
        async with self._locks.setdefault(question, asyncio.Lock()):
            if question not in self._found:
                self._found[question] = await find()
            found = self._found[question]
        while len(self._found) > self.KEPT:
            oldest = next(iter(self._found))
            del self._found[oldest]
            self._locks.pop(oldest, None)
        return found


class Answers(Once[dict[str, object]]):
    """The responses of JSON endpoints in one run, by URL."""


@cache
def ssl_context() -> ssl.SSLContext:
    """The verifying TLS context; shared, because building one takes tens of milliseconds."""
    import httpx

    return httpx.create_ssl_context()


def check_status(status: int, host: str, wait: float | None = None) -> None:
    """Raise :class:`RequestFailed` unless ``status`` is a success."""
    if 200 <= status < 300:
        return
    try:
        answered = f"{host} answered {status} ({HTTPStatus(status).phrase})"
    except ValueError:
        answered = f"{host} answered {status}"
    if status == 429:
        until = "" if wait is None else f" and asks to wait {wait:g} s"
        raise RequestFailed(
            "rate_limited",
            f"{answered}{until}. Try again later, or use another source.",
            transient=True,
            retry_after=wait,
        )
    if status >= 500 or status == 408:
        raise RequestFailed(
            "server_error", f"{answered}. Try again later, or use another source.", transient=True, retry_after=wait
        )
    raise RequestFailed("http_error", f"{answered}. The same request will not succeed; use another source.")


async def retrying(
    attempt: Callable[[], Awaitable[T]], *, until: float, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> T:
    """Await ``attempt`` up to three times, while its failures are transient and the wait ends before ``until``.

    Args:
        attempt: Makes one request.
        until: The deadline, in the event loop's time.
        sleep: Waits between attempts, as long as the server or ``PAUSES`` say.
    """
    pauses = iter(PAUSES)
    while True:
        try:
            return await attempt()
        except RequestFailed as failure:
            pause = next(pauses, None)
            if pause is None or not failure.transient:
                raise
            wait = pause * uniform(0.5, 1.5) if failure.retry_after is None else failure.retry_after
            if wait >= until - asyncio.get_running_loop().time():
                raise
        await sleep(wait)


async def read_body(chunks: AsyncIterable[bytes], *, encoding: str, limit: int, host: str) -> bytes:
    """Read and decompress a body of at most ``limit`` bytes.

    Raises:
        RequestFailed: ``too_large``, or ``invalid_response`` for a broken or unknown encoding (we accept only gzip).
    """
    inflate = _inflater(encoding, host)
    body = bytearray()
    try:
        async for chunk in chunks:
            body += inflate(chunk, limit + 1 - len(body))
            if len(body) > limit:
                text = f"{host} sent more than {limit // 1024} KiB."
                raise RequestFailed("too_large", text, came=bytes(body[:limit]))
    except zlib.error:
        raise RequestFailed("invalid_response", f"{host} sent a body that cannot be decompressed.") from None
    finally:
        if isinstance(chunks, AsyncGeneratorType):
            await _end(chunks)
    return bytes(body)


async def _end(chunks: AsyncGeneratorType[bytes, None]) -> None:
    """Close a generator, and give the event loop time to close those that it reads from."""
    if chunks.ag_frame is None:  # exhausted
        return
    await chunks.aclose()
    for _ in range(2 * _LAYERS):
        await asyncio.sleep(0)


def _inflater(encoding: str, host: str) -> Callable[[bytes, int], bytes]:
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return lambda chunk, room: chunk
    if encoding in ("gzip", "x-gzip"):
        stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
        # Output above the limit is an error, so data that zlib holds back is never needed. Data after the end of the
        # stream is dropped.
        return lambda chunk, room: b"" if stream.eof else stream.decompress(chunk, room)
    raise RequestFailed(
        "invalid_response", f"{host} compressed its response as {encoding[:40]!r}, although only gzip was accepted."
    )


@dataclass(frozen=True, kw_only=True)
class JsonClient:
    """Queries an endpoint that responds with JSON objects.

    Args:
        endpoint: The URL without parameters.
        user_agent: The ``User-Agent`` header.
        timeout_seconds: The timeout for a query, all attempts and waits included.
        check: Raises :class:`RequestFailed` for an error inside an HTTP 200.
        empty_is_throttling: Whether status 202 or an empty body means that the service is throttling.
        sleep: Waits between attempts.
    """

    endpoint: str
    user_agent: str
    timeout_seconds: float
    check: Callable[[Mapping[str, object]], None]
    empty_is_throttling: bool = False
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    @property
    def host(self) -> str:
        """The host of the endpoint, for messages and sources."""
        return urlsplit(self.endpoint).hostname or self.endpoint

    async def ask(self, parameters: Mapping[str, str], answers: Answers) -> dict[str, object]:
        """The endpoint's response; from ``answers`` if this run already has it.

        Raises:
            RequestFailed: With one of ``ERROR_CODES``.
        """
        url = f"{self.endpoint}{'&' if '?' in self.endpoint else '?'}{urlencode(parameters, errors='replace')}"
        return await answers.get(url, partial(self._fetch, url))

    async def _fetch(self, url: str) -> dict[str, object]:
        import httpx

        client = httpx.AsyncClient(
            headers={"User-Agent": self.user_agent, "Accept": "application/json", "Accept-Encoding": "gzip"},
            timeout=None,  # the timeout below covers everything, including a slow body
            verify=ssl_context(),
            trust_env=self.host not in ("localhost", "127.0.0.1", "::1"),  # no proxy for this machine
        )
        try:
            async with asyncio.timeout(self.timeout_seconds) as clock, client:
                until = clock.when() or 0.0
                return await retrying(partial(self._attempt, client, url), until=until, sleep=self.sleep)
        except TimeoutError:
            raise RequestFailed(
                "network_error",
                f"{self.host} did not answer within {self.timeout_seconds:g} s. Try again, or use another source.",
            ) from None

    async def _attempt(self, client: httpx.AsyncClient, url: str) -> dict[str, object]:
        import httpx

        try:
            status, wait, body = await self._get(client, url)
        except httpx.TransportError as error:
            raise RequestFailed(
                "network_error",
                f"{self.host} could not be reached ({type(error).__name__}). Try again, or use another source.",
                transient=True,
            ) from error
        try:
            return self._decoded(status, body)
        except RequestFailed as failure:
            failure.retry_after = wait
            raise

    async def _get(self, client: httpx.AsyncClient, url: str) -> tuple[int, float | None, bytes]:
        """The status, Retry-After and body of a success."""
        for _ in range(MAX_REDIRECTS + 1):
            async with client.stream("GET", url) as response:
                if response.has_redirect_location:
                    url = self._redirected(response)
                    continue
                wait = retry_after(response.headers)
                check_status(response.status_code, self.host, wait)
                return response.status_code, wait, await self._read(response)
        raise RequestFailed("http_error", f"{self.host} redirected more than {MAX_REDIRECTS} times.")

    async def _read(self, response: httpx.Response) -> bytes:
        encoding = response.headers.get("Content-Encoding", "")
        try:
            return await read_body(response.aiter_raw(), encoding=encoding, limit=MAX_BODY, host=self.host)
        except RequestFailed as failure:
            raise RequestFailed("invalid_response", str(failure)) from failure

    def _redirected(self, response: httpx.Response) -> str:
        """The target of a redirect, which must be on this host: query and headers are meant only for it."""
        from httpx import InvalidURL

        try:
            here, there = response.url, response.url.join(response.headers["Location"])
        except (InvalidURL, ValueError):  # such as ``//[``
            raise RequestFailed("http_error", f"{self.host} redirected to an invalid URL.") from None
        same = (there.scheme, there.port) == (here.scheme, here.port)
        upgraded = (here.scheme, there.scheme, there.port) == ("http", "https", None)
        if there.host != here.host or there.userinfo or not (same or upgraded):
            raise RequestFailed("http_error", f"{self.host} redirected to {there.host}, which is not followed.")
        return str(there)

    def _decoded(self, status: int, body: bytes) -> dict[str, object]:
        if self.empty_is_throttling and (status == 202 or not body.strip()):
            raise RequestFailed(
                "rate_limited", f"{self.host} is throttling. Try again later, or use another source.", transient=True
            )
        try:
            answer: object = json.loads(body)
        except (ValueError, RecursionError):  # broken JSON, broken UTF-8, hostile nesting
            raise RequestFailed("invalid_response", f"{self.host} sent something that is not JSON.") from None
        if not isinstance(answer, dict):
            raise RequestFailed("invalid_response", f"{self.host} sent JSON of an unknown shape.")
        self.check(answer)
        return answer
