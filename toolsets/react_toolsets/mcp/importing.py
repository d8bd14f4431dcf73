"""Converts the MCP configuration of other programs into toolsets of an agent file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from react_toolsets.mcp.servers_file import plain_name, read_servers

_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET = re.compile(r"key|token|secret|passw|credential|auth|cookie", re.IGNORECASE)


def as_toolsets(path: Path) -> tuple[str, list[str]]:
    """YAML for an agent file, and the variables that replace literal secrets in ``path``.

    Raises:
        ValueError: The file does not define MCP servers.
    """
    variables: list[str] = []
    toolsets = [_toolset(name, server, variables) for name, server in read_servers(path).items()]
    text = yaml.safe_dump({"toolsets": toolsets}, sort_keys=False, allow_unicode=True, width=120)
    return text, variables


def _toolset(name: str, server: Mapping[str, Any], variables: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": "mcp", "name": plain_name(name)}
    url = server.get("url") or server.get("serverUrl")
    if url:
        found["url"] = _ours(url)
        found["transport"] = "sse" if server.get("type") == "sse" else ""
        found["headers"] = _texts(server.get("headers"), name, variables)
    else:
        found["command"] = _ours(server["command"])
        found["args"] = [_ours(str(argument)) for argument in server.get("args", ())]
        found["cwd"] = _ours(server.get("cwd", ""))
        found["env"] = _texts(server.get("env"), name, variables)
    return {key: value for key, value in found.items() if value}


def _texts(values: Mapping[str, object] | None, server: str, variables: list[str]) -> dict[str, str]:
    return {key: _secret(key, str(value), server, variables) for key, value in (values or {}).items()}


def _secret(key: str, value: str, server: str, variables: list[str]) -> str:
    if not _SECRET.search(key) or _VARIABLE.search(value):
        return _ours(value)
    word = key if re.fullmatch(r"[A-Z][A-Z0-9_]*", key) else f"{server}_{key}"
    variable = re.sub(r"[^A-Z0-9]+", "_", word.upper()).strip("_")
    variables.append(variable)
    return f"Bearer ${{{variable}}}" if value.startswith("Bearer ") else f"${{{variable}}}"


def _ours(text: str) -> str:
    return _VARIABLE.sub(r"${\1}", text)
