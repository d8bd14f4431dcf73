"""The ``mcp`` toolset: tools of servers that speak the Model Context Protocol."""

from __future__ import annotations

from react_toolsets.mcp.toolset import McpToolset, McpWarning

__all__ = ["McpToolset", "McpWarning"]
