"""A database that runs one statement at a time; an abandoned statement is cancelled."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from react_run.support import dataclass
from react_toolsets.sql.tables import Table
from react_toolsets.sql.trouble import DatabaseGone, SqlTrouble

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine

BUSY = 2.0
"""Seconds to wait for a lock that another connection holds."""
Parameters = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits for a statement: ``seconds``, and ``rows`` and ``bytes`` of its result."""

    seconds: float
    rows: int
    bytes: int


class Running:
    """A running statement, which another thread can stop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stop: Any = None
        self.stopped = False

    def by(self, stop: Any) -> None:
        """From now on, call ``stop`` to stop the statement."""
        with self._lock:
            self._stop = stop
            if self.stopped and stop is not None:
                stop()

    def stop(self) -> None:
        """Stop the statement, now or as soon as it starts."""
        with self._lock:
            self.stopped = True
            if self._stop is not None:
                self._stop()


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A statement with its parameters by name, and its limits."""

    sql: str
    parameters: Parameters
    limits: Limits
    running: Running


class Database(ABC):
    """One database, with a connection for each statement.

    Args:
        url: The URL of the database.
        changes: Whether statements may change it.
    """

    dialect: str
    """The dialect's name in sqlglot."""

    def __init__(self, url: URL, *, changes: bool) -> None:
        self.url, self.changes = url, changes
        self._engine: Engine | None = None
        self._making = threading.Lock()

    @property
    def engine(self) -> Engine:
        """SQLAlchemy's engine, created when it is first needed."""
        with self._making:
            if self._engine is None:
                self._engine = self._made()
            return self._engine

    def read(self, statement: Statement) -> Table:
        """Run a statement in a transaction that cannot change anything, and return its rows.

        Raises:
            SqlTrouble, DatabaseGone: The database refused or stopped it, or cannot be reached.
        """
        with self._connection() as connection:
            return self._read(connection, statement)

    def change(self, statement: Statement) -> int:
        """Run a statement in its own transaction, and return the number of changed rows.

        Raises:
            SqlTrouble, DatabaseGone: As for :meth:`read`; nothing was changed.
        """
        with self._connection() as connection:
            return self._change(connection, statement)

    def _connection(self) -> Connection:
        from sqlalchemy.exc import SQLAlchemyError

        try:
            return self.engine.connect()
        except SQLAlchemyError as error:
            raise self.explained(getattr(error, "orig", None) or error) from error

    @abstractmethod
    def _made(self) -> Engine: ...

    @abstractmethod
    def _read(self, connection: Connection, statement: Statement) -> Table:
        """See :meth:`read`."""

    @abstractmethod
    def _change(self, connection: Connection, statement: Statement) -> int:
        """See :meth:`change`."""

    @abstractmethod
    def explained(self, error: BaseException) -> SqlTrouble | DatabaseGone:
        """The error for the model for an error of the driver."""


def too_long(limits: Limits) -> str:
    return f"the statement took more than {limits.seconds:g} s and was stopped. Ask for less, or aggregate"
