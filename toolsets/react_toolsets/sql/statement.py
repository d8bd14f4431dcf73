"""Checks a statement before the database gets it: one statement, of an allowed kind, on allowed tables."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from react_run.support import dataclass
from react_toolsets.sql.trouble import SqlTrouble

if TYPE_CHECKING:
    from sqlglot import exp

LONGEST = 20_000
"""The most characters of a statement."""
OUTSIDE = (
    *("pg_read_", "pg_ls_", "pg_stat_file", "pg_file_", "lo_", "dblink", "pg_terminate_", "pg_cancel_", "pg_reload_"),
    *(
        "pg_rotate_",
        "pg_promote",
        "pg_switch_",
        "pg_create_",
        "pg_drop_",
        "pg_logical_",
        "pg_replication_",
        "set_config",
    ),
    *("pg_advisory_", "pg_sleep", "query_to_xml", "database_to_xml", "schema_to_xml", "table_to_xml"),
    *("cursor_to_xml", "load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "xp_", "current_setting"),
)
"""Prefixes of functions that reach outside the data: files, other servers, other sessions, settings."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules for statements.

    Args:
        dialect: The dialect's name in sqlglot.
        changes: Whether a statement may change data.
        tables: Globs for the tables that a statement may use.
    """

    dialect: str
    changes: bool
    tables: Sequence[str]


def checked(sql: str, rules: Rules, known: Sequence[str] = ()) -> None:
    """Check that ``sql`` is one statement that ``rules`` allow; ``known`` are the existing tables.

    Raises:
        SqlTrouble: It is not allowed.
    """
    if len(sql) > LONGEST:
        raise SqlTrouble(f"the statement has more than {LONGEST:,} characters", code="too_long")
    root = _parsed(sql, rules.dialect)
    if rules.changes:
        _check_change(root)
    else:
        _check_reading(root)
    for name in _functions(root):
        if name.startswith(OUTSIDE):
            raise SqlTrouble(f"{name}() reaches outside the data, and is not allowed", code="not_allowed")
    for table in _tables(root):
        if not any(fnmatchcase(table.lower(), pattern.lower()) for pattern in rules.tables):
            near = get_close_matches(table, list(known), n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise SqlTrouble(f"the table {table} may not be used here.{hint}", code="not_allowed")


def _parsed(sql: str, dialect: str) -> exp.Expression:
    import sqlglot
    from sqlglot.errors import SqlglotError

    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # no warnings: unknown syntax is refused with an error
    try:
        found = [statement for statement in sqlglot.parse(sql, read=dialect) if statement is not None]
    except (SqlglotError, RecursionError) as error:
        details = getattr(error, "errors", None) or [{}]
        text = details[0].get("description") or str(error)
        where = f" at line {details[0]['line']}, column {details[0]['col']}" if details[0].get("line") else ""
        raise SqlTrouble(f"this is not valid SQL ({dialect}){where}: {text}", code="invalid_sql") from error
    if len(found) != 1:
        raise SqlTrouble(f"one statement at a time, not {len(found)}", code="one_statement")
    return found[0]  # type: ignore[return-value]  # sqlglot declares its base class


def _check_reading(root: exp.Expression) -> None:
    from sqlglot import exp

    changing = (exp.DML, exp.DDL, exp.Command, exp.Into, exp.Lock, exp.Set, exp.Pragma, exp.Transaction, exp.Kill)
    inside = root.expressions and isinstance(root, exp.Describe)
    if not isinstance(root, exp.Query) and not inside:
        raise SqlTrouble(f"only SELECT is allowed here, not {_kind(root)}", code="read_only")
    for node in root.walk():
        if isinstance(node, changing) and not isinstance(node, exp.Query):
            raise SqlTrouble(f"only reading is allowed here, but this contains {_kind(node)}", code="read_only")


def _check_change(root: exp.Expression) -> None:
    from sqlglot import exp

    if not isinstance(root, (exp.Insert, exp.Update, exp.Delete, exp.Merge)):
        raise SqlTrouble(f"INSERT, UPDATE, DELETE and MERGE are allowed here, not {_kind(root)}", code="not_allowed")
    if isinstance(root, (exp.Update, exp.Delete)) and root.args.get("where") is None:
        text = "this would change every row; add a WHERE, WHERE true if you mean all"
        raise SqlTrouble(text, code="every_row")
    for node in root.walk():
        if isinstance(node, (exp.Command, exp.Into, exp.Set, exp.Pragma, exp.Transaction)):
            raise SqlTrouble(f"this contains {_kind(node)}, which is not allowed", code="not_allowed")


def _kind(node: Any) -> str:
    named = node.name if node.key == "command" else ""
    return (named or node.key).upper()


def _functions(root: exp.Expression) -> Iterator[str]:
    from sqlglot import exp

    for node in root.find_all(exp.Func):
        yield (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()


def _tables(root: exp.Expression) -> Iterator[str]:
    """The tables that a statement uses, without those it defines itself (WITH)."""
    from sqlglot import exp

    own = {cte.alias_or_name.lower() for cte in root.find_all(exp.CTE)}
    for table in root.find_all(exp.Table):
        if table.name and (table.db or table.name.lower() not in own):
            yield f"{table.db}.{table.name}" if table.db else table.name
