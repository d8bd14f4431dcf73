"""The ``sql`` toolset: queries that cannot change the database."""

from __future__ import annotations

from react_toolsets.sql.toolset import SqlToolset

__all__ = ["SqlToolset"]
