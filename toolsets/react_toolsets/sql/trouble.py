"""Errors of statements, for the model."""

from __future__ import annotations

from react_run import ToolError


class SqlTrouble(ToolError):
    """A statement was not run, or the database refused it; another one may work."""

    default_code = "sql_error"
    opaque = True


class DatabaseGone(ToolError):
    """The database cannot be reached, or is busy; the same statement may work later."""

    default_code = "database_gone"
