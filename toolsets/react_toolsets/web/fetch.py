"""Fetches a page; each redirect is checked like the first request, and size, type and redirects are limited."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urljoin

import httpcore

from react_run.support import dataclass, retry_after
from react_toolsets.http import RequestFailed, check_status, read_body, ssl_context
from react_toolsets.web.network import CheckedBackend, Network
from react_toolsets.web.policy import HostPolicy
from react_toolsets.web.refused import Refused
from react_toolsets.web.url import Target, parse

MAX_REDIRECTS = 5
MAX_BYTES = 5 * 1024 * 1024
"""The most bytes of a page, after decompression."""
REDIRECTS = {301, 302, 303, 307, 308}
_TEXT = """
    json xml pdf xhtml+xml yaml x-yaml toml x-toml ndjson x-ndjson jsonl jsonlines json5 javascript x-javascript
    ecmascript typescript sql graphql x-sh x-shellscript x-python x-httpd-php x-tex x-latex x-csh x-perl x-ruby
    x-subrip x-wiki xml-dtd xml-external-parsed-entity csv x-csv mbox x-ini x-properties
"""
TEXT_TYPES = frozenset(_TEXT.split())
"""The subtypes of ``application`` that are text."""
ACCEPT = "text/html, application/xhtml+xml, text/*;q=0.9, application/json, application/xml;q=0.9, application/pdf"


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A fetched page; ``url`` is the URL after redirects, ``media_type`` is in lower case without parameters."""

    url: str
    media_type: str
    charset: str
    body: bytes


async def fetch(url: str, *, network: Network, policy: HostPolicy, user_agent: str) -> Document:
    """Fetch ``url``. There is no timeout here: the caller sets one.

    Raises:
        Refused: The page must not or cannot be read.
        RequestFailed: The server cannot be reached, or did not send the page.
    """
    target = parse(url)
    async with httpcore.AsyncConnectionPool(
        ssl_context=ssl_context(), network_backend=CheckedBackend(network, policy), keepalive_expiry=0
    ) as pool:
        for _ in range(MAX_REDIRECTS + 1):
            policy.check_host(target)
            found = await _get(pool, target, user_agent)
            if isinstance(found, Document):
                return found
            target = found
    raise Refused("redirects", f"{target.host} redirected more than {MAX_REDIRECTS} times. Use another source.")


async def _get(pool: httpcore.AsyncConnectionPool, target: Target, user_agent: str) -> Document | Target:
    """The page, or the target of a redirect."""
    headers: dict[bytes | str, bytes | str] = {
        "Host": target.authority,
        "User-Agent": user_agent,
        "Accept": ACCEPT,
        "Accept-Encoding": "gzip",
        "Accept-Language": "en, *;q=0.5",
    }
    where = httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
    try:
        async with pool.stream("GET", where, headers=headers) as response:
            return await _read(response, target)
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
        raise RequestFailed(
            "network_error",
            f"{target.host} could not be reached ({type(error).__name__}). Try another source.",
            transient=True,
        ) from error


async def _read(response: httpcore.Response, target: Target) -> Document | Target:
    location = _header(response.headers, b"location")
    if response.status in REDIRECTS and location:
        try:
            return parse(urljoin(target.url, location))
        except ValueError as error:
            raise Refused("characters", f"{target.url[:200]} redirects to an invalid URL.") from error
    check_status(response.status, target.host, retry_after({"retry-after": _header(response.headers, b"retry-after")}))
    media_type, _, parameters = _header(response.headers, b"content-type").lower().partition(";")
    media_type = media_type.strip()
    if not readable(media_type):
        raise Refused("type", f"{target.url[:200]} is {media_type[:80]}, which is not text. Use another source.")
    body = await _body(response, target)
    charset = parameters.rpartition("charset=")[2].partition(";")[0].strip(" \"'") if "charset=" in parameters else ""
    return Document(url=target.url, media_type=media_type, charset=charset, body=body)


async def _body(response: httpcore.Response, target: Target) -> bytes:
    length = _header(response.headers, b"content-length")
    if length.isdigit() and int(length) > MAX_BYTES:
        raise _too_large(target)
    try:
        return await read_body(
            response.aiter_stream(),
            encoding=_header(response.headers, b"content-encoding"),
            limit=MAX_BYTES,
            host=target.host,
        )
    except RequestFailed as failure:
        if failure.code == "too_large":
            raise _too_large(target) from None
        raise


def _too_large(target: Target) -> Refused:
    return Refused("size", f"{target.url[:200]} is larger than {MAX_BYTES // 1024 // 1024} MiB. Use another source.")


def readable(media_type: str) -> bool:
    """Whether a body of this type can be read as text; without a type, the body decides later."""
    top, _, name = media_type.partition("/")
    return (
        top in ("", "text")
        or name.endswith(("+json", "+xml", "+yaml"))
        or (top == "application" and name in TEXT_TYPES)
    )


def _header(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str:
    """The value of the first header ``name``, decoded as UTF-8."""
    for key, value in headers:
        if key.lower() == name:
            return value.decode("utf-8", "replace").strip()
    return ""
