"""Finds an agent's MCP servers, for the command line and editors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from react_run.config.dump import kind_name
from react_run.errors import ConfigError

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig


def mcp_toolsets(toolsets: Iterable[Any]) -> Iterator[Any]:
    """The toolsets of kind ``mcp``, including nested ones."""
    for toolset in toolsets:
        if kind_name(toolset) == "mcp":
            yield toolset
        elif hasattr(toolset, "toolsets"):
            yield from mcp_toolsets(toolset.toolsets)


def servers_of(toolsets: Iterable[Any]) -> dict[str, Any]:
    """The toolset of each server, by the server's name."""
    return {server: toolset for toolset in mcp_toolsets(toolsets) for server in toolset.inspection().names}


def toolset_of(config: ReActAgentConfig, name: str) -> Any:
    """The toolset with the MCP server ``name``.

    Raises:
        ConfigError: There is no such server.
    """
    found = servers_of(config.toolsets)
    if name not in found:
        raise ConfigError(f"{config.path} names no MCP server {name!r}. Servers: {', '.join(found) or 'none'}")
    return found[name]


def pairs(arguments: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Parse ``KEY=VALUE`` arguments.

    Raises:
        ConfigError: An argument does not have this form.
    """
    for argument in arguments:
        key, sign, value = argument.partition("=")
        if not sign or not key:
            raise ConfigError(f"{argument}: write KEY=VALUE, such as path=notes.txt")
        yield key, value
