"""A database, asked one statement at a time; a statement that is given up is cancelled."""

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
"""Seconds to wait for a lock of somebody else."""
Parameters = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one statement may take: ``seconds``, ``rows``, ``bytes`` of its result."""

    seconds: float
    rows: int
    bytes: int


class Running:
    """One statement under way, which another thread can stop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stop: Any = None
        self.stopped = False

    def by(self, stop: Any) -> None:
        """It can be stopped by calling ``stop`` from now on."""
        with self._lock:
            self._stop = stop
            if self.stopped and stop is not None:
                stop()

    def stop(self) -> None:
        """Stop it, now or as soon as it begins."""
        with self._lock:
            self.stopped = True
            if self._stop is not None:
                self._stop()


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One statement, with the values of its parameters by name, and what it may take."""

    sql: str
    parameters: Parameters
    limits: Limits
    running: Running


class Database(ABC):
    """One database, with a connection for each statement.

    Args:
        url: Where it is.
        changes: Whether statements may change it.
    """

    dialect: str
    """Its name to sqlglot."""

    def __init__(self, url: URL, *, changes: bool) -> None:
        self.url, self.changes = url, changes
        self._engine: Engine | None = None
        self._making = threading.Lock()

    @property
    def engine(self) -> Engine:
        """SQLAlchemy's engine, made when it is first needed."""
        with self._making:
            if self._engine is None:
                self._engine = self._made()
            return self._engine

    def read(self, statement: Statement) -> Table:
        """The rows that a statement gives, in a transaction that cannot change anything.

        Raises:
            SqlTrouble, DatabaseGone: The database refuses it, stopped it, or cannot be reached.
        """
        with self._connection() as connection:
            return self._read(connection, statement)

    def change(self, statement: Statement) -> int:
        """The number of rows that a statement changed, in a transaction of its own.

        Raises:
            SqlTrouble, DatabaseGone: As of :meth:`read`; nothing has changed then.
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
        """What an error of the driver means."""


def too_long(limits: Limits) -> str:
    return f"the statement took more than {limits.seconds:g} s and was stopped. Ask for less, or aggregate"
