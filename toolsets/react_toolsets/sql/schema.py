"""Describes the tables of a database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from react_toolsets.sql.trouble import SqlTrouble

if TYPE_CHECKING:
    from sqlalchemy import Inspector

    from react_toolsets.sql.database import Database

MOST = 500
"""The most tables that are listed."""


def table_names(database: Database, schemas: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """The names of the tables and views that may be used; those in a named schema with the schema."""
    inspector = _inspector(database)
    found: list[str] = []
    for schema in schemas or [None]:  # type: ignore[list-item]  # the default one has no name
        names = [*inspector.get_table_names(schema), *inspector.get_view_names(schema)]
        found += [f"{schema}.{name}" if schema else name for name in names]
    return [name for name in found if allowed(name, patterns)]


def allowed(name: str, patterns: Sequence[str]) -> bool:
    """Whether a table may be used."""
    return any(fnmatchcase(name.lower(), pattern.lower()) for pattern in patterns)


def listed(names: Sequence[str], search: str) -> str:
    """The tables whose names contain ``search``, one per line."""
    chosen = [name for name in names if search.lower() in name.lower()]
    lines = [*chosen[:MOST], f"[{len(chosen)} table{'' if len(chosen) == 1 else 's'}]"]
    if len(chosen) > MOST:
        lines[-1] = f"[{MOST} of {len(chosen)} tables; search for a part of the name]"
    return "\n".join(lines)


def described_table(database: Database, table: str, names: Sequence[str]) -> str:
    """The columns, keys and indexes of a table.

    Raises:
        SqlTrouble: The table does not exist.
    """
    known = {name.lower(): name for name in names}
    if table.lower() not in known:
        near = get_close_matches(table, list(names), n=1)
        hint = f" Did you mean {near[0]}?" if near else " list_tables shows what there is."
        raise SqlTrouble(f"the table {table!r} does not exist.{hint}", code="unknown_table")
    schema, _, name = known[table.lower()].rpartition(".")
    return "\n".join(_lines(_inspector(database), name, schema or None))


def _lines(inspector: Inspector, name: str, schema: str | None) -> Iterator[str]:
    yield f"{f'{schema}.' if schema else ''}{name}{_comment(inspector, name, schema)}"
    keys = set(inspector.get_pk_constraint(name, schema)["constrained_columns"])
    for column in inspector.get_columns(name, schema):
        marks = ["primary key"] if column["name"] in keys else []
        marks += ["not null"] if not column["nullable"] and column["name"] not in keys else []
        about = f" -- {column['comment']}" if column.get("comment") else ""
        yield f"  {column['name']} {column['type']}{''.join(f', {mark}' for mark in marks)}{about}"
    for key in inspector.get_foreign_keys(name, schema):
        there = f"{key['referred_table']}({', '.join(key['referred_columns'])})"
        yield f"  ({', '.join(key['constrained_columns'])}) -> {there}"
    for index in inspector.get_indexes(name, schema):
        columns = ", ".join(str(column) for column in index["column_names"])
        yield f"  index on ({columns}){', unique' if index['unique'] else ''}"


def _comment(inspector: Inspector, name: str, schema: str | None) -> str:
    with suppress(NotImplementedError):  # SQLite has none
        text = inspector.get_table_comment(name, schema)["text"]
        return f" -- {text}" if text else ""
    return ""


def _inspector(database: Database) -> Inspector:
    from sqlalchemy import inspect
    from sqlalchemy.exc import SQLAlchemyError

    try:
        return inspect(database.engine)
    except SQLAlchemyError as error:
        raise database.explained(getattr(error, "orig", None) or error) from error


def outline(path: Path, patterns: Sequence[str]) -> str:
    """The tables of a SQLite file with their columns, one per line; empty if it cannot be read."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            found = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
            tables = [str(row[0]) for row in found if not str(row[0]).startswith("sqlite_")]
            return "\n".join(f"{name}({_columns(connection, name)})" for name in tables if allowed(name, patterns))
    except (sqlite3.Error, ValueError):
        return ""  # the first query reports it


def _columns(connection: Any, table: str) -> str:
    rows = connection.execute("SELECT name, type FROM pragma_table_info(?)", (table,))
    return ", ".join(f"{name} {kind}".strip() for name, kind in rows)
