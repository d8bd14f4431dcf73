"""Reads configuration files of other programs: ``{"mcpServers": {NAME: {command, args, env, …}}}``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from react_toolsets.mcp.hints import matches

KEYS = ("mcpServers", "servers", "context_servers")
"""The key of the servers: in most programs, VS Code and Zed."""
KNOWN = ("command", "args", "cwd", "env", "envFile", "headers", "serverUrl", "type", "url")
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-((?:[^}$]|\$(?!\{))*+))?\}")


def read_servers(path: Path) -> dict[str, Mapping[str, Any]]:
    """The servers in ``path`` that are not disabled, unchanged.

    Raises:
        ValueError: The file is not a configuration of MCP servers.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read {path}: {error}") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}:{error.lineno}:{error.colno}: this is not JSON: {error.msg}") from error
    servers = next((data[key] for key in KEYS if isinstance(data, dict) and key in data), None)
    if not isinstance(servers, dict):
        raise ValueError(f'{path} has no "mcpServers": {{…}}')
    found: dict[str, Mapping[str, Any]] = {}
    for name, server in servers.items():
        if not isinstance(server, dict) or not (server.get("command") or server.get("url") or server.get("serverUrl")):
            raise ValueError(f"{path}: the server {name!r} has neither a command nor a url")
        if not server.get("disabled"):
            found[name] = server
    return found


def servers_in(
    path: Path, wanted: Sequence[str], environment: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The servers in ``path`` whose names match ``wanted``, as options of a toolset.

    Raises:
        ValueError: The file is wrong, or names a variable that is not set.
    """
    servers = read_servers(path)
    if unknown := [glob for glob in wanted if not any(matches(name, [glob]) for name in servers)]:
        raise ValueError(f"{path} has no server {unknown[0]!r}. Servers: {', '.join(servers) or 'none'}")
    for name, server in servers.items():
        if matches(name, wanted):
            yield plain_name(name), _options(server, path, name, environment)


def plain_name(name: str) -> str:
    """``name`` changed to a form that the options accept."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:20] or "server"


def _options(server: Mapping[str, Any], path: Path, name: str, environment: Mapping[str, str]) -> dict[str, Any]:
    def filled(text: str) -> str:
        def value(found: re.Match[str]) -> str:
            if found[1] not in environment and found[2] is None:
                raise ValueError(f"{path}: the server {name!r} needs the variable {found[1]}, which is not set")
            return environment.get(found[1], found[2] or "")

        return _VARIABLE.sub(value, text)

    url = server.get("url") or server.get("serverUrl") or ""
    found: dict[str, Any] = {"url": filled(url), "headers": _texts(server.get("headers"), filled)}
    if not url:
        found = {
            "command": filled(server["command"]),
            "args": [filled(str(argument)) for argument in server.get("args", ())],
            "env": _texts(server.get("env"), filled),
        }
        if server.get("cwd"):
            found["cwd"] = path.parent / filled(server["cwd"])
    elif server.get("type") == "sse":
        found["transport"] = "sse"
    return found


def _texts(values: Mapping[str, object] | None, filled: Any) -> dict[str, str]:
    return {key: filled(str(value)) for key, value in (values or {}).items()}
