"""What can go wrong with a statement, for the model."""

from __future__ import annotations

from react_run import ToolError


class SqlTrouble(ToolError):
    """A statement that was not run, or that the database refused; another one may work."""

    default_code = "sql_error"
    opaque = True


class DatabaseGone(ToolError):
    """The database cannot be reached, or is busy; the same statement may work later."""

    default_code = "database_gone"
