"""PostgreSQL: reads in read-only transactions with a timeout on the server."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from react_toolsets.sql.database import Database, Running, Statement, too_long
from react_toolsets.sql.tables import Table
from react_toolsets.sql.trouble import DatabaseGone, SqlTrouble

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine


class Postgres(Database):
    """A PostgreSQL database; it is read in read-only transactions."""

    dialect = "postgres"

    def _made(self) -> Engine:
        from sqlalchemy import create_engine
        from sqlalchemy.pool import NullPool

        options = "" if self.changes else "-c default_transaction_read_only=on"
        return create_engine(
            self.url,
            poolclass=NullPool,  # unclosed agents leave no connection open, and a server restart none stale
            connect_args={"connect_timeout": 10, "options": options, "application_name": "react-run"},
        )

    def _read(self, connection: Connection, statement: Statement) -> Table:
        import psycopg

        raw = self._begun(connection, statement, "READ ONLY")
        try:
            with raw.cursor() as cursor:
                table: Table | None = None
                for row in cursor.stream(*self._driver_form(connection, statement)):
                    table = table or self._table(cursor, statement)
                    if not table.add(row):
                        raw.cancel()
                        break
                return table or self._table(cursor, statement)
        except psycopg.Error as error:
            raise self._why(error, statement) from error
        finally:
            self._over(raw, statement.running, commit=False)

    def _change(self, connection: Connection, statement: Statement) -> int:
        import psycopg

        raw = self._begun(connection, statement, "READ WRITE")
        done = False
        try:
            with raw.cursor() as cursor:  # prepared, so that the server refuses several statements in one
                cursor.execute(*self._driver_form(connection, statement), prepare=True)
                count = cursor.rowcount
            raw.commit()
            done = True
            return int(count)
        except psycopg.Error as error:
            raise self._why(error, statement) from error
        finally:
            self._over(raw, statement.running, commit=done)

    def _begun(self, connection: Connection, statement: Statement, mode: str) -> Any:
        raw: Any = connection.connection.driver_connection
        raw.rollback()
        raw.execute(f"SET TRANSACTION {mode}")
        raw.execute(f"SET LOCAL statement_timeout = {int(statement.limits.seconds * 1000)}")
        statement.running.by(raw.cancel)
        return raw

    def _over(self, raw: Any, running: Running, *, commit: bool) -> None:
        import psycopg

        running.by(None)
        if not commit:
            with suppress(psycopg.Error):
                raw.rollback()

    def _driver_form(self, connection: Connection, statement: Statement) -> tuple[Any, ...]:
        """The statement with the driver's own placeholders; unchanged if it has no parameters."""
        if not statement.parameters:
            return (statement.sql,)
        from sqlalchemy import text

        compiled = text(statement.sql).compile(dialect=connection.dialect)
        return str(compiled), dict(statement.parameters)

    def _table(self, cursor: Any, statement: Statement) -> Table:
        names = [column.name for column in cursor.description or ()]
        return Table(names, max_rows=statement.limits.rows, max_bytes=statement.limits.bytes)

    def _why(self, error: BaseException, statement: Statement) -> SqlTrouble | DatabaseGone:
        import psycopg.errors

        if isinstance(error, psycopg.errors.QueryCanceled):
            return SqlTrouble(too_long(statement.limits), code="timeout")
        return self.explained(error)

    def explained(self, error: BaseException) -> SqlTrouble | DatabaseGone:
        """The error for the model for an error of the driver."""
        import psycopg.errors as errors

        text = " ".join(str(error).split())
        if isinstance(error, errors.ReadOnlySqlTransaction | errors.InsufficientPrivilege):
            return SqlTrouble(f"the database does not allow this: {text}", code="read_only")
        if isinstance(error, errors.LockNotAvailable | errors.DeadlockDetected | errors.SerializationFailure):
            return DatabaseGone(f"another connection is using the same rows: {text}", code="locked")
        if isinstance(error, errors.OperationalError | errors.InterfaceError):
            return DatabaseGone(f"the database cannot be reached: {text}")
        return SqlTrouble(f"the database says: {text}")
