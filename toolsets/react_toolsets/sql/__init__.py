"""The ``sql`` toolset: questions to a database that no question can change."""

from __future__ import annotations

from react_toolsets.sql.toolset import SqlToolset

__all__ = ["SqlToolset"]
