"""MCP servers that an editor brings, as toolsets of an agent file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from acp.exceptions import RequestError
from acp.schema import HttpMcpServer, McpServerStdio, SseMcpServer


def toolsets_of(servers: Iterable[object]) -> list[dict[str, Any]]:
    """Build a toolset for each server.

    Raises:
        RequestError: A server uses an unknown transport.
    """
    return [_toolset(server) for server in servers]


def _toolset(server: object) -> dict[str, Any]:
    if isinstance(server, McpServerStdio):
        variables = {variable.name: variable.value for variable in server.env or ()}
        return {
            **_server_options(server.name),
            "command": server.command,
            "args": list(server.args or ()),
            "env": variables,
        }
    if isinstance(server, (HttpMcpServer, SseMcpServer)):
        headers = {header.name: header.value for header in server.headers or ()}
        transport = "sse" if isinstance(server, SseMcpServer) else "http"
        return {**_server_options(server.name), "url": server.url, "headers": headers, "transport": transport}
    raise RequestError(-32602, f"a server of type {getattr(server, 'type', server)!r} is not supported")


def _server_options(name: str) -> dict[str, Any]:
    plain = re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-")[:20]
    return {"kind": "mcp", "name": plain or "server", "lock": "off"}
