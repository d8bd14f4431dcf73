"""MCP servers that an editor brings along, as toolsets of an agent file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from acp.exceptions import RequestError
from acp.schema import HttpMcpServer, McpServerStdio, SseMcpServer


def toolsets_of(servers: Iterable[object]) -> list[dict[str, Any]]:
    """A toolset for each server.

    Raises:
        RequestError: One is reached in a way that is not known.
    """
    return [_toolset(server) for server in servers]


def _toolset(server: object) -> dict[str, Any]:
    if isinstance(server, McpServerStdio):
        variables = {variable.name: variable.value for variable in server.env or ()}
        return {**_named(server.name), "command": server.command, "args": list(server.args or ()), "env": variables}
    if isinstance(server, (HttpMcpServer, SseMcpServer)):
        headers = {header.name: header.value for header in server.headers or ()}
        transport = "sse" if isinstance(server, SseMcpServer) else "http"
        return {**_named(server.name), "url": server.url, "headers": headers, "transport": transport}
    raise RequestError(-32602, f"a server of type {getattr(server, 'type', server)!r} cannot be reached from here")


def _named(name: str) -> dict[str, Any]:
    plain = re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-")[:20]
    return {"kind": "mcp", "name": plain or "server", "lock": "off"}
