"""Access control: hosts, origins, headers, bodies and tokens, checked for every path before anything else."""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
from collections.abc import Mapping
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from time import time
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from react_run.serve.errors import ApiError
from react_run.serve.options import ServeOptions, is_loopback

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_HEADER = "x-react-page"
PAGE_FIELD = "_page"
COOKIE = "react_run"
COOKIE_LIFE = 30 * 86_400
BODY_SECONDS = 30.0
"""The most seconds that a request body may take to arrive."""
MOST_HEADERS = 100
LARGEST_HEADERS = 32_768
_OPEN = ("/healthz", "/login", "/static/")
_OPEN_LOCALLY = ("/readyz", "/metrics")
_SAFE = ("GET", "HEAD", "OPTIONS")
_API = re.compile(r"/(v1|api)(/|$)")
_SECURITY = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


class Gate:
    """Decides which hosts, origins and tokens are accepted.

    Args:
        options: The options from the command line.
    """

    def __init__(self, options: ServeOptions) -> None:
        self.options = options
        self.page_token = secrets.token_urlsafe(24)
        """A token for the page's own requests, new at every start."""
        self._hosts = {host.lower() for host in options.allow_hosts}
        self._origins = {origin.rstrip("/").lower() for origin in options.allow_origins}

    def check_host(self, host: str) -> None:
        """Refuse an unknown host name, which a hostile page may have pointed at this machine (DNS rebinding).

        Raises:
            ApiError: 403.
        """
        name = _without_port(host)
        if name in self._hosts or is_loopback(name):
            return
        if not self.options.is_local and (name == self.options.host.lower() or _is_address(name)):
            return
        raise ApiError(403, f"this server does not answer to the host {name!r}: --allow-host {name} allows it")

    def allowed_origin(self, origin: str, host: str) -> bool:
        """Whether a request from ``origin`` needs permission headers, and gets them.

        Raises:
            ApiError: 403.
        """
        found = origin.lower().rstrip("/")
        if found in self._origins:
            return True
        if found.partition("://")[2] == host.lower():
            return False  # our own page, which needs no CORS headers
        raise ApiError(
            403,
            f"pages of {origin} may not use this server: --allow-origin {origin} allows it",
            code="origin_not_allowed",
        )

    def who(self, headers: Headers) -> str | None:
        """The name of the sender, by token or cookie; ``None`` if unknown."""
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self.name_of(token.strip())
        return self._of_cookie(headers.get("cookie", ""))

    def name_of(self, token: str) -> str | None:
        """The name that belongs to a token; all tokens are compared, in constant time."""
        given = token.encode(errors="replace")
        found = None
        for name, known in self.options.tokens.items():
            if hmac.compare_digest(given, known.encode()):
                found = name
        return found

    def cookie_for(self, name: str) -> str:
        """The cookie for ``name``, who has logged in."""
        stamp = f"{name}.{int(time())}"
        return f"{stamp}.{self._signature(name, stamp)}"

    def _of_cookie(self, header: str) -> str | None:
        try:
            morsel = SimpleCookie(header).get(COOKIE)
        except CookieError:
            return None
        if morsel is None:
            return None
        stamp, _, signature = morsel.value.rpartition(".")
        name, _, since = stamp.rpartition(".")
        if name not in self.options.tokens or not since.isdigit():
            return None
        right = hmac.compare_digest(signature.encode(errors="replace"), self._signature(name, stamp).encode())
        return name if right and time() - int(since) < COOKIE_LIFE else None

    def _signature(self, name: str, stamp: str) -> str:
        return hmac.new(self.options.tokens[name].encode(), f"react-run page {stamp}".encode(), sha256).hexdigest()


class Protection:
    """The outermost layer of the application.

    Args:
        app: The application that handles accepted requests.
        gate: Decides which requests are accepted.
    """

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self.app, self.gate = app, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        extra = dict(_SECURITY)
        try:
            answer = self._refusal(scope, headers, extra)
        except ApiError as error:
            answer = error.response

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                found = MutableHeaders(scope=message)
                for name, value in extra.items():
                    found.setdefault(name, value)
            await send(message)

        await (answer or self.app)(scope, receive, with_headers)

    def _refusal(self, scope: Scope, headers: Headers, extra: dict[str, str]) -> Response | None:
        """A refusal or redirect, or ``None`` if the request may proceed."""
        size = sum(len(name) + len(value) for name, value in scope["headers"])
        if size > LARGEST_HEADERS or len(scope["headers"]) > MOST_HEADERS:
            raise ApiError(
                431, f"a request may have at most {MOST_HEADERS} headers with {LARGEST_HEADERS:,} bytes in total"
            )
        host = headers.get("host", "")
        self.gate.check_host(host)
        origin = headers.get("origin")
        if origin is not None and self.gate.allowed_origin(origin, host):
            extra["Access-Control-Allow-Origin"] = origin
            extra["Access-Control-Expose-Headers"] = "X-Request-Id, Retry-After"
            extra["Cross-Origin-Resource-Policy"] = "cross-origin"
            extra["Vary"] = "Origin"
            if scope["method"] == "OPTIONS":
                return _preflight(headers)
        return self._let_in(scope, headers)

    def _let_in(self, scope: Scope, headers: Headers) -> Response | None:
        path: str = scope["path"]
        gate = self.gate
        scope.setdefault("state", {})["by"] = "" if not gate.options.tokens else (gate.who(headers) or "")
        if gate.options.tokens and not self._is_public(path):
            if not scope["state"]["by"]:
                if _API.match(path) or path in _OPEN_LOCALLY:
                    raise ApiError(401, "this server requires a token: send it as `Authorization: Bearer TOKEN`")
                return RedirectResponse("/login", status_code=303)
            by_cookie = "authorization" not in headers
            if by_cookie and scope["method"] not in _SAFE and _API.match(path):
                self.check_page(headers.get(PAGE_HEADER))
        return None

    def _is_public(self, path: str) -> bool:
        return path in _OPEN or path.startswith("/static/") or (path in _OPEN_LOCALLY and self.gate.options.is_local)

    def check_page(self, token: str | None) -> None:
        """Refuse a request that does not come from our page."""
        check_page(self.gate, token)


def check_page(gate: Gate, token: str | None) -> None:
    """Refuse a request that claims to come from our page but does not.

    Raises:
        ApiError: 403.
    """
    if token is None or not hmac.compare_digest(token.encode(errors="replace"), gate.page_token.encode()):
        raise ApiError(403, "this request does not come from the current page: reload the page", code="page_token")


def _preflight(headers: Headers) -> Response:
    return Response(
        status_code=204,
        headers={
            "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
            "Access-Control-Allow-Headers": headers.get("access-control-request-headers", "authorization"),
            "Access-Control-Max-Age": "600",
        },
    )


def _without_port(host: str) -> str:
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


async def body_of(request: Request, limit: int) -> bytes:
    """The body of a request.

    Raises:
        ApiError: It is too large, or takes too long to arrive.
    """
    too_large = ApiError(413, f"the body of a request may have at most {limit:,} bytes (--max-body)")
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise too_large
    parts, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size > limit:
                    raise too_large
                parts.append(part)
    except TimeoutError:
        raise ApiError(408, f"the body of the request did not arrive within {BODY_SECONDS:g} s") from None
    return b"".join(parts)


def form_of(body: bytes) -> Mapping[str, str]:
    """Parse the fields of a form.

    Raises:
        ApiError: It is not UTF-8, or has too many fields.
    """
    from urllib.parse import parse_qsl

    try:
        return dict(parse_qsl(body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=100))
    except (UnicodeDecodeError, ValueError):
        raise ApiError(400, "the form is not valid UTF-8, or has too many fields") from None
