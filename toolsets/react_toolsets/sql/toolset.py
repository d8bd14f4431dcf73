"""The ``sql`` toolset: list tables, describe a table, run queries; a separate tool changes data."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from pydantic import Field, PrivateAttr, SecretStr, ValidationInfo, model_validator

from react_run import LocalPath, Origin, Outcome, ReActSkillSpec, ReActToolset, Run, Tool, ToolError, ToolsetError, tool
from react_run.support import in_thread
from react_toolsets.sql.schema import described_table, listed, outline, table_names
from react_toolsets.sql.statement import Rules, checked

if TYPE_CHECKING:
    from sqlalchemy import URL

    from react_toolsets.sql.database import Database, Statement

T = TypeVar("T")
GRACE = 5.0
"""Seconds between the timeout of a statement and that of the tool, for cancelling the statement."""
LARGE = 2_000
"""An outline with more characters becomes a skill's instructions instead of part of a description."""
LONGEST_OUTLINE = 60_000
Value = str | int | float | bool | None


class SqlToolset(ReActToolset):
    """Answers questions from a SQLite file or a PostgreSQL database."""

    kind: ClassVar[str] = "sql"

    database: LocalPath | None = None
    """A SQLite file, relative to the agent file."""
    url: SecretStr | None = None
    """The URL of a database, instead of `database`: `postgresql://user@host/name`, or `sqlite:///file.db`."""
    password: SecretStr | None = None
    """The password for `url`; write it as `${VARIABLE}`."""
    read_only: bool = True
    """Whether the database is read-only; otherwise the tool `execute` is offered, subject to permissions."""
    tables: list[str] = Field(default_factory=lambda: ["*"], min_length=1)
    """The tables that may be used, as globs; `schema.table` for those of a named schema."""
    schemas: list[str] = Field(default_factory=list)
    """The schemas of a PostgreSQL database whose tables are listed; by default the default schema."""
    timeout: float = Field(default=30.0, gt=0, le=3600)
    """Time limit for a statement, in seconds."""
    max_rows: int = Field(default=1_000, ge=1, le=1_000_000)
    """Maximum number of rows to fetch."""
    max_bytes: int = Field(default=1024 * 1024, ge=1_024)
    """Maximum bytes of a result to fetch; results too long for the model are saved and previewed."""

    _database: Database | None = PrivateAttr(default=None)
    _outline: str | None = PrivateAttr(default=None)

    @model_validator(mode="before")
    @classmethod
    def _file_of_url(cls, data: object, info: ValidationInfo) -> object:
        url = data.get("url") if isinstance(data, dict) else None
        if isinstance(data, dict) and isinstance(url, str) and url.startswith("sqlite:///"):
            rest = {key: value for key, value in data.items() if key != "url"}
            start = info.context.directory if isinstance(info.context, Origin) else Path()
            return {"database": start / url.removeprefix("sqlite:///"), **rest}
        return data

    @model_validator(mode="after")
    def _one_database(self) -> Self:
        if (self.database is None) == (self.url is None):
            raise ValueError("give either database (a SQLite file) or url (the URL of a database)")
        if self.url is not None and not self.url.get_secret_value().startswith(("postgresql://", "postgres://")):
            raise ValueError("url must start with postgresql:// or sqlite:///; other databases are not supported")
        return self

    def needs_trust(self) -> str:
        """Changing data, or connecting to a server, needs trust."""
        if not self.read_only:
            return "changes a database"
        return "connects to a database server" if self.url is not None else ""

    def tools(self) -> list[Tool]:
        """The tools, with a description of the database.

        Raises:
            ToolsetError: A library or the database file is missing.
        """
        if self._tools is None:
            self._check_libraries()
            if self.database is not None and not self.database.is_file():
                raise ToolsetError(f"the database {self.database} does not exist", code="sql.missing")
            made = [tool for tool in super().tools() if tool.name != "execute" or not self.read_only]
            self._tools = [self._with_terms(tool) for tool in made]
        return list(self._tools)

    def _check_libraries(self) -> None:
        needed = ["sqlalchemy", "sqlglot", *([] if self.url is None else ["psycopg"])]
        missing = [name for name in needed if find_spec(name) is None]
        if missing:
            raise ToolsetError(
                f"the sql toolset needs {', '.join(missing)}: pip install 'react-run[sql]'", code="sql.extra"
            )

    def _with_terms(self, tool: Tool) -> Tool:
        terms = "SQLite" if self.database is not None else "PostgreSQL"
        text = (
            f"{tool.description}\n\nThe database is {terms}." if tool.name in ("query", "execute") else tool.description
        )
        if tool.name == "query" and 0 < len(self._tables_in_brief) <= LARGE:
            text += f" Its tables:\n{self._tables_in_brief}"
        return replace(tool, description=text, timeout=self.timeout + GRACE, network=self.url is not None)

    @property
    def _tables_in_brief(self) -> str:
        if self._outline is None:
            self._outline = "" if self.database is None else outline(self.database, self.tables)[:LONGEST_OUTLINE]
        return self._outline

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        """The skill ``database``; its instructions list the tables if they do not fit into a description."""
        large = len(self._tables_in_brief) > LARGE
        how = "list_tables and describe_table show the tables; use them before you query."
        return [
            ReActSkillSpec(
                name="database",
                description="Query the data in a database, in SQL.",
                tool_names=tuple(tool.name for tool in self.tools()),
                instructions=f"{how}\n\nTables:\n{self._tables_in_brief}" if large else how,
                order=50,
            )
        ]

    @tool(read_only=True)
    async def list_tables(self, search: str = "") -> str:
        """List the tables and views of the database.

        Args:
            search: List only names that contain this text.
        """
        return listed(await self._names(), search)

    @tool(read_only=True)
    async def describe_table(self, table: str) -> str:
        """Describe a table: its columns with types, keys, and indexes.

        Args:
            table: The name of the table.
        """
        names = await self._names()
        return await in_thread(partial(described_table, self._open(), table, names))

    @tool(read_only=True)
    async def query(self, sql: str, parameters: dict[str, Value] | None = None) -> str:
        """Run one SELECT and get its rows. It cannot change anything.

        Args:
            sql: The statement, with `:name` for each parameter.
            parameters: The values, by name.
        """
        await self._check(sql, changes=False)
        table = await self._stoppable(self._open().read, sql, parameters)
        return str(table)

    @tool(read_only=False)
    async def execute(self, sql: str, run: Run, parameters: dict[str, Value] | None = None) -> str:
        """Run one INSERT, UPDATE, DELETE or MERGE in its own transaction.

        Args:
            sql: The statement, with `:name` for each parameter.
            parameters: The values, by name.
        """
        if not _has_permissions(run):
            text = "changing data needs `permissions:` in the agent file, to say what is allowed without asking"
            raise ToolError(text, code="permissions_missing")
        await self._check(sql, changes=True)
        count = await self._stoppable(self._open().change, sql, parameters)
        return f"done: {count} row{'' if count == 1 else 's'} changed"

    async def _check(self, sql: str, *, changes: bool) -> None:
        rules = Rules(dialect=self._open().dialect, changes=changes, tables=self.tables)
        known = await self._names() if self.tables != ["*"] else []
        await in_thread(partial(checked, sql, rules, known), stoppable=True)

    async def _names(self) -> list[str]:
        return await in_thread(partial(table_names, self._open(), self.schemas, self.tables))

    async def _stoppable(self, do: Callable[[Statement], T], sql: str, parameters: dict[str, Value] | None) -> T:
        """Run a statement; if it is abandoned, cancel it and wait for its end."""
        from react_toolsets.sql.database import Limits, Running, Statement

        limits = Limits(seconds=self.timeout, rows=self.max_rows, bytes=self.max_bytes)
        statement = Statement(sql=sql, parameters=parameters or {}, limits=limits, running=Running())
        doing = asyncio.ensure_future(in_thread(partial(do, statement)))
        try:
            return await asyncio.shield(doing)
        except asyncio.CancelledError:
            statement.running.stop()
            await asyncio.wait((doing,), timeout=GRACE)
            raise

    def _open(self) -> Database:
        if self._database is None:
            from react_toolsets.sql.postgres import Postgres
            from react_toolsets.sql.sqlite import Sqlite

            kind = Sqlite if self.url is None else Postgres
            self._database = kind(self._address(), changes=not self.read_only)
        return self._database

    def _address(self) -> URL:
        from sqlalchemy import URL, make_url

        if self.url is None:
            return URL.create("sqlite", database=str(self.database))
        address = make_url(self.url.get_secret_value().replace("postgres://", "postgresql://", 1))
        address = address.set(drivername="postgresql+psycopg")
        return address if self.password is None else address.set(password=self.password.get_secret_value())

    def interpret_result(self, tool_name: str, args: dict[str, Any], result: object) -> Outcome | None:
        """Every result is a verified fact."""
        lines = str(result).splitlines()
        return Outcome.success(f"{args.get('sql') or tool_name}: {'; '.join(lines[:6])}"[:600])


def _has_permissions(run: Run) -> bool:
    """Whether the agent of ``run``, or one of its parents, has permission rules."""
    if any(getattr(plugin, "kind", "") == "approval" for plugin in run.agent.hooks.plugins):
        return True
    return run.parent is not None and _has_permissions(run.parent)
