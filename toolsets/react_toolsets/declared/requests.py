"""Sends a request to an address that has just been checked, and reads the response."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import partial
from urllib.parse import urljoin

import httpcore

from react_run.support import dataclass, retry_after
from react_toolsets.http import READS, RequestFailed, check_status, read_body, retrying, ssl_context
from react_toolsets.knowledge import USER_AGENT
from react_toolsets.web.network import CheckedBackend, Network, SystemNetwork
from react_toolsets.web.policy import HostPolicy
from react_toolsets.web.url import Target, parse

MAX_BODY = 4 * 1024 * 1024
"""The most bytes of a response, after decompression."""
MAX_REDIRECTS = 3
SAID = 500
"""The most characters of an error's body that the model gets."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request to send."""

    method: str
    target: Target
    headers: Mapping[str, str]
    body: bytes = b""
    max_bytes: int = MAX_BODY
    """The most bytes of the response, after decompression."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A response; the names of ``headers`` are in lower case."""

    media_type: str
    charset: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    url: str = ""


async def exchange(request: Request, *, network: Network | None, policy: HostPolicy, timeout: float) -> Answer:  # noqa: ASYNC109
    """Send ``request`` and wait at most ``timeout`` seconds; a read is retried after transient errors.

    Raises:
        RequestFailed: There is no usable response.
    """
    attempt = partial(send, request, network=network or SystemNetwork(), policy=policy)
    try:
        async with asyncio.timeout(timeout) as clock:
            if request.method in READS:
                return await retrying(attempt, until=clock.when() or 0.0)
            return await attempt()
    except TimeoutError:
        text = f"no answer within {timeout:g} s; whether it took effect is unknown"
        raise RequestFailed("network_error", text) from None


async def send(request: Request, *, network: Network, policy: HostPolicy) -> Answer:
    """Send ``request`` once; redirects are followed only for reads, and only on the same host.

    Raises:
        RequestFailed: The address must not be reached, or there is no usable response.
    """
    target = request.target
    async with httpcore.AsyncConnectionPool(
        ssl_context=ssl_context(), network_backend=CheckedBackend(network, policy), keepalive_expiry=0
    ) as pool:
        for _ in range(MAX_REDIRECTS + 1):
            policy.check_host(target)
            found = await _exchange(pool, request, target)
            if isinstance(found, Answer):
                return found
            target = found
    raise RequestFailed("http_error", f"{target.host} redirected more than {MAX_REDIRECTS} times.")


async def _exchange(pool: httpcore.AsyncConnectionPool, request: Request, target: Target) -> Answer | Target:
    where = httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
    try:
        async with pool.stream(
            request.method, where, headers=_headers(request, target), content=request.body or None
        ) as response:
            location = _header(response.headers, b"location")
            if response.status in (301, 302, 303, 307, 308) and location:
                return _redirected(request, target, _joined(target, location))
            return await _read(response, target, request.max_bytes)
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
        text = f"{target.host} could not be reached ({type(error).__name__})."
        raise RequestFailed("network_error", text, transient=True) from error


def _headers(request: Request, target: Target) -> list[tuple[bytes, bytes]]:
    given = {name.lower(): value for name, value in request.headers.items()}
    usual = {"user-agent": USER_AGENT, "accept": "application/json, text/*;q=0.9", "accept-encoding": "gzip"}
    length = {"content-length": str(len(request.body))} if request.body else {}
    sent = {**usual, **given, **length, "host": target.authority}
    return [(name.encode("ascii", "replace"), value.encode("utf-8", "replace")) for name, value in sent.items()]


def _joined(here: Target, location: str) -> Target:
    try:
        return parse(urljoin(here.url, location))
    except ValueError:  # such as ``//[``
        raise RequestFailed("http_error", f"{here.host} redirected to an invalid URL.") from None


def _redirected(request: Request, here: Target, there: Target) -> Target:
    same = (here.scheme, here.host, here.port) == (there.scheme, there.host, there.port)
    upgraded = (here.scheme, there.scheme, here.host) == ("http", "https", there.host)
    if request.method not in READS or not (same or upgraded):
        raise RequestFailed("http_error", f"{here.host} redirected to {there.host}, which is not followed.")
    return there


async def _read(response: httpcore.Response, target: Target, limit: int) -> Answer:
    encoding = _header(response.headers, b"content-encoding")
    body = await read_body(response.aiter_stream(), encoding=encoding, limit=limit, host=target.host)
    media_type, _, parameters = _header(response.headers, b"content-type").lower().partition(";")
    charset = parameters.rpartition("charset=")[2].partition(";")[0].strip(" \"'") if "charset=" in parameters else ""
    headers = {key.decode("latin-1").lower(): value.decode("utf-8", "replace") for key, value in response.headers}
    answer = Answer(media_type=media_type.strip(), charset=charset, body=body, headers=headers, url=target.url)
    wait = retry_after({"retry-after": _header(response.headers, b"retry-after")})
    try:
        check_status(response.status, target.host, wait)
    except RequestFailed as failure:
        said = " ".join(text_of(answer).split())[:SAID]
        text = f"{failure} It said: {said}" if said else str(failure)
        raise RequestFailed(
            failure.code, text, transient=failure.transient, retry_after=failure.retry_after
        ) from failure
    return answer


def decoded(answer: Answer) -> object:
    """The JSON of a response, or its text.

    Raises:
        RequestFailed: The response is declared as JSON and is not, or is not text.
    """
    if answer.media_type.endswith(("/json", "+json")):
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError):
            raise RequestFailed("invalid_response", "The server sent something that is not JSON.") from None
    if b"\0" in answer.body:
        kind = answer.media_type or "something"
        raise RequestFailed(
            "invalid_response", f"The server sent {kind} ({len(answer.body)} bytes), which is not text."
        )
    return text_of(answer)


def text_of(answer: Answer) -> str:
    """The body of a response as text."""
    try:
        return answer.body.decode(answer.charset or "utf-8", "replace")
    except LookupError:
        return answer.body.decode("utf-8", "replace")


def kept(data: object, paths: str | list[str]) -> object:
    """The part of ``data`` at a path; for several paths, the parts by path.

    Raises:
        RequestFailed: There is no such part.
    """
    if isinstance(paths, str):
        return _part(data, paths.split("."), paths)
    return {path: _part(data, path.split("."), path) for path in paths}


def _part(data: object, steps: list[str], path: str) -> object:
    for number, step in enumerate(steps):
        if step == "*" and isinstance(data, (list, dict)):
            items = data if isinstance(data, list) else list(data.values())
            return [_part(item, steps[number + 1 :], path) for item in items]
        if isinstance(data, dict) and step in data:
            data = data[step]
        elif isinstance(data, list) and step.lstrip("-").isdigit() and -len(data) <= int(step) < len(data):
            data = data[int(step)]
        else:
            there = ", ".join(_names(data)) or type(data).__name__
            raise RequestFailed("missing_part", f"The answer has no {path!r}: at {step!r} there is {there[:200]}.")
    return data


def _names(data: object) -> Iterator[str]:
    if isinstance(data, dict):
        yield from map(str, data)
    elif isinstance(data, list):
        yield f"a list of {len(data)}"


def _header(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str:
    return next((value.decode("utf-8", "replace").strip() for key, value in headers if key.lower() == name), "")
