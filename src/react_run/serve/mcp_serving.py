"""Runs an MCP server on standard input and output, or over HTTP."""

from __future__ import annotations

import hmac
import os
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from react_run.errors import ConfigError
from react_run.serve.mcp_api import Offered
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, kw_only=True)
class Address:
    """The address to listen on.

    Args:
        host: A host name or an address of this machine.
        port: The port; 0 picks any free one.
        token: What clients must send as ``Authorization: Bearer``; required beyond this machine.
    """

    host: str
    port: int
    token: str = ""

    @classmethod
    def parsed(cls, text: str, token_variable: str | None) -> Address:
        """Parse ``HOST:PORT`` from the command line.

        Raises:
            ConfigError: It is malformed, or other machines could connect without a token.
        """
        host, sign, port = text.rpartition(":")
        host = host.strip("[]")
        if not sign or not host or not port.isdigit() or int(port) > 65_535:
            raise ConfigError(f"--http {text}: write HOST:PORT, such as 127.0.0.1:8765")
        token = os.environ.get(token_variable, "") if token_variable else ""
        if token_variable and not token:
            raise ConfigError(f"--token-env {token_variable}: this variable is not set")
        if host not in LOOPBACK and not token:
            raise ConfigError(
                f"--http {text}: other machines could call this agent. Give --token-env VARIABLE, whose value "
                "clients must send, or listen on 127.0.0.1"
            )
        return cls(host=host, port=int(port), token=token)


async def serve_on_stdio(offered: Offered) -> None:
    """Serve one client until the input ends; other writes to standard output are redirected to standard error."""
    from mcp.server.stdio import stdio_server

    server = offered.server()
    async with offered.agent, stdio_server() as (incoming, outgoing):
        with redirect_stdout(sys.stderr):  # what Python keeps back is written when nobody watches any more
            await server.run(incoming, outgoing, server.create_initialization_options())


async def serve_over_http(offered: Offered, address: Address, ready: Callable[[str], None]) -> None:
    """Serve any number of clients until a signal stops the server.

    Args:
        offered: What to serve.
        address: Where to listen.
        ready: Called with the URL once clients can connect.

    Raises:
        ConfigError: The port is in use.
    """
    import uvicorn

    app: Any = offered.server().streamable_http_app(host=address.host)
    if address.token:
        app = _Guarded(app, address.token)
    config = uvicorn.Config(app, host=address.host, port=address.port, log_level="warning", access_log=False)
    server = _server_of(config, lambda port: ready(f"http://{_in_url(address.host)}:{port}/mcp"))
    async with offered.agent:
        try:
            await server.serve()
        except SystemExit as error:  # how uvicorn says that it cannot listen
            raise ConfigError(f"cannot listen on {address.host}:{address.port}; is the port taken?") from error


def _server_of(config: Any, ready: Callable[[int], None]) -> Any:
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets=sockets)
            ready(self.servers[0].sockets[0].getsockname()[1])

    return Server(config)


class _Guarded:
    """Lets in requests that carry the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.datastructures import Headers
        from starlette.responses import PlainTextResponse

        if scope["type"] == "http":
            kind, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
            if kind.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self._token.encode()):
                refusal = PlainTextResponse("a token is required\n", 401, {"WWW-Authenticate": "Bearer"})
                return await refusal(scope, receive, send)
        await self._app(scope, receive, send)
        return None


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
