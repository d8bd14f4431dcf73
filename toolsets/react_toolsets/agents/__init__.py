"""The ``agents`` toolset: other agent files as tools (behaviour X)."""

from __future__ import annotations

from react_toolsets.agents.toolset import AgentsToolset, Subagent

__all__ = ["AgentsToolset", "Subagent"]
