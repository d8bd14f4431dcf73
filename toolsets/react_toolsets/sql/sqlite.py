"""SQLite: opens the file read-only, with an authoriser that allows only reading."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from react_toolsets.sql.database import BUSY, Database, Running, Statement, too_long
from react_toolsets.sql.tables import Table
from react_toolsets.sql.trouble import DatabaseGone, SqlTrouble

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine


class Sqlite(Database):
    """A SQLite file; it is opened read-only for reading."""

    dialect = "sqlite"

    def _made(self) -> Engine:
        from sqlalchemy import create_engine
        from sqlalchemy.pool import NullPool

        return create_engine(self.url, creator=self._connect, poolclass=NullPool)

    def _connect(self) -> sqlite3.Connection:
        path = Path(self.url.database or "")
        mode = "rw" if self.changes else "ro"
        try:
            connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, check_same_thread=False)
        except sqlite3.Error as error:
            raise self.explained(error) from error
        connection.execute(f"PRAGMA busy_timeout = {BUSY * 1000:.0f}")
        return connection

    def _read(self, connection: Connection, statement: Statement) -> Table:
        raw = self._guarded(connection, statement, changes=False)
        try:
            cursor = raw.execute(statement.sql, dict(statement.parameters))
            names = [column[0] for column in cursor.description or ()]
            table = Table(names, max_rows=statement.limits.rows, max_bytes=statement.limits.bytes)
            for row in cursor:
                if not table.add(row):
                    break
            cursor.close()
            return table
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise self._why(error, statement) from error
        finally:
            self._freed(raw, statement.running)

    def _change(self, connection: Connection, statement: Statement) -> int:
        raw = self._guarded(connection, statement, changes=True)
        try:
            count = raw.execute(statement.sql, dict(statement.parameters)).rowcount
            raw.commit()
            return count
        except (sqlite3.Error, sqlite3.Warning) as error:
            raw.rollback()
            raise self._why(error, statement) from error
        finally:
            self._freed(raw, statement.running)

    def _guarded(self, connection: Connection, statement: Statement, *, changes: bool) -> sqlite3.Connection:
        raw: Any = connection.connection.driver_connection
        raw.execute(f"PRAGMA query_only = {'OFF' if changes else 'ON'}")
        until = monotonic() + statement.limits.seconds
        raw.set_progress_handler(lambda: int(monotonic() > until or statement.running.stopped), 1000)
        raw.set_authorizer(_changing if changes else _reading)
        statement.running.by(raw.interrupt)
        return raw  # type: ignore[no-any-return]  # SQLAlchemy does not declare the type of the connection

    def _freed(self, raw: sqlite3.Connection, running: Running) -> None:
        running.by(None)
        raw.set_progress_handler(None, 0)
        raw.set_authorizer(None)

    def _why(self, error: BaseException, statement: Statement) -> SqlTrouble | DatabaseGone:
        if "interrupted" in str(error):
            return SqlTrouble(too_long(statement.limits), code="timeout")
        return self.explained(error)

    def explained(self, error: BaseException) -> SqlTrouble | DatabaseGone:
        """The error for the model for an error of the driver."""
        text = str(error)
        if "unable to open" in text:
            return DatabaseGone(f"the database {self.url.database} cannot be opened: {text}")
        if "is locked" in text:
            return DatabaseGone("the database is locked by another connection; try again later", code="locked")
        if "readonly" in text or "not authorized" in text or "prohibited" in text:
            return SqlTrouble(f"the database does not allow this: {text}", code="read_only")
        if "malformed" in text or "not a database" in text:
            return DatabaseGone(f"{self.url.database} is damaged, or not a database: {text}", code="damaged")
        return SqlTrouble(f"the database says: {text}")


_ALWAYS = (sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
_CHANGES = (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_TRANSACTION)


def _reading(action: int, *_: object) -> int:
    return sqlite3.SQLITE_OK if action in _ALWAYS else sqlite3.SQLITE_DENY


def _changing(action: int, *_: object) -> int:
    return sqlite3.SQLITE_OK if action in (*_ALWAYS, *_CHANGES) else sqlite3.SQLITE_DENY
