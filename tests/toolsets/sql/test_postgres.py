"""The ``sql`` toolset over a real PostgreSQL: read-only by the server's own word, and cancelled in the server."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.postgres import Server
from tests.toolsets.running import step
from tests.toolsets.sql.conftest import PASSWORD

from react_run import ReActStep
from react_run.testing import agent_with, calls, says
from react_toolsets.sql import SqlToolset

pytestmark = pytest.mark.slow


def database(server: Server, **options: Any) -> SqlToolset:
    return SqlToolset.model_validate({"url": server.url, "password": PASSWORD, **options})


def ask(server: Server, sql: str, parameters: dict[str, Any] | None = None, **options: Any) -> ReActStep:
    given = {"sql": sql} if parameters is None else {"sql": sql, "parameters": parameters}
    return step(Path.cwd(), database(server, **options), "query", **given)


def count(server: Server, table: str = "customers") -> str:
    return ask(server, f"SELECT count(*) FROM {table}").observation.splitlines()[1]


def test_tables_are_listed_and_described_with_what_is_said_about_them(server: Server) -> None:
    listed = step(Path.cwd(), database(server), "list_tables").observation.splitlines()
    assert listed == ["customers", "notes", "[2 tables]"]
    both = step(Path.cwd(), database(server, schemas=["public", "archive"]), "list_tables").observation
    assert "archive.old_orders" in both
    described = step(Path.cwd(), database(server), "describe_table", table="customers").observation
    assert "customers -- Who buys" in described
    assert "balance NUMERIC(10, 2) -- in EUR" in described


@pytest.mark.parametrize(
    ("sql", "parameters", "expected"),
    [
        ("SELECT name, joined, balance FROM customers WHERE id = 1", None, "Ada | 2026-01-07 | 12.50"),
        ("SELECT name FROM customers WHERE balance > :least AND name LIKE 'A%'", {"least": 1.5}, "Ada"),
        ("SELECT name FROM customers WHERE name = :n", {"n": "100%"}, "100%"),
        ("SELECT name FROM customers WHERE name LIKE '100%'", None, "100%"),
        ("SELECT '12:30'::time, '{\"a\": [1]}'::jsonb, NULL", None, '12:30:00 | {"a": [1]} | NULL'),
        ("SELECT :t", {"t": "'; DROP TABLE customers; --"}, "'; DROP TABLE customers; --"),
    ],
)
def test_a_question_gives_a_compact_table(
    server: Server, sql: str, parameters: dict[str, Any] | None, expected: str
) -> None:
    done = ask(server, sql, parameters)
    assert not done.error_code, done.observation
    assert done.observation.splitlines()[1:] == [expected, "[1 row]"]


CHANGES = [
    "DELETE FROM customers",
    "INSERT INTO customers (name) VALUES ('x')",
    "CREATE TABLE x (a int)",
    "DROP TABLE notes",
    "WITH gone AS (DELETE FROM notes RETURNING *) SELECT * FROM gone",
    "SELECT * INTO copied FROM customers",
    "SELECT * FROM customers FOR UPDATE",
    "SELECT nextval('customers_id_seq')",
    "SELECT 1; DELETE FROM customers",
    "COMMIT; DELETE FROM customers",
    "COPY customers TO PROGRAM 'touch /tmp/x'",
    "SET default_transaction_read_only = off",
    "DO $$ BEGIN DELETE FROM customers; END $$",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT set_config('transaction_read_only', 'off', false)",
    "TRUNCATE notes",
    "VACUUM",
]


@pytest.mark.parametrize("sql", CHANGES)
def test_what_is_no_single_question_is_refused_before_the_server_sees_it(server: Server, sql: str) -> None:
    done = ask(server, sql)
    if "nextval" not in sql:
        assert done.error_code in ("read_only", "one_statement", "not_allowed", "invalid_sql"), done.observation
    assert done.error_code
    assert count(server) == "3"


# A superuser may read files in a transaction that only reads: there the parser is what stands in the way.
@pytest.mark.parametrize("sql", [sql for sql in CHANGES if not re.search("pg_read|set_config|lo_import", sql)])
def test_the_server_refuses_it_as_well(server: Server, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    monkeypatch.setattr("react_toolsets.sql.toolset.checked", lambda *_: None)  # as if the parser missed it
    done = ask(server, sql)
    if not sql.startswith(("SET ", "COPY")):
        assert done.error_code in ("read_only", "sql_error"), done.observation
    assert count(server) == "3"


def test_a_statement_that_takes_too_long_is_cancelled_in_the_server(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("react_toolsets.sql.toolset.checked", lambda *_: None)  # pg_sleep is not allowed otherwise
    assert ask(server, "SELECT pg_sleep(30)", timeout=0.5).error_code == "timeout"
    assert running(server) == "0"


def test_a_cancelled_run_cancels_its_statement_in_the_server(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("react_toolsets.sql.toolset.checked", lambda *_: None)  # as above
    agent = agent_with([calls(("query", {"sql": "SELECT pg_sleep(30)"})), says("done")], toolsets=[database(server)])

    async def scenario() -> None:
        task = asyncio.ensure_future(agent.run("go"))
        await asyncio.to_thread(wait_until, server, "1")
        task.cancel()
        await asyncio.wait((task,))

    asyncio.run(scenario())
    wait_until(server, "0")


def wait_until(server: Server, expected: str) -> None:
    """Wait until so many statements sleep in the server."""
    until = time.monotonic() + 60
    while (found := running(server)) != expected:
        assert time.monotonic() < until, f"{found} statements sleep in the server"


def running(server: Server) -> str:
    with psycopg.connect(f"{server.url}?password={PASSWORD}") as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'"
        ).fetchone()
    assert found is not None
    return str(found[0])


def test_rows_are_bounded_without_fetching_the_rest(server: Server) -> None:
    began = time.monotonic()
    done = ask(server, "SELECT a.relname FROM pg_class a, pg_class b, pg_class c", max_rows=3)
    assert "[the first 3 rows; the limit of 3 rows was reached" in done.observation
    assert time.monotonic() - began < 20
    assert count(server) == "3"  # the connection is still good


def test_only_the_tables_that_are_named_can_be_used(server: Server) -> None:
    assert ask(server, "SELECT * FROM notes", tables=["customers"]).error_code == "not_allowed"
    assert ask(server, "SELECT * FROM pg_catalog.pg_shadow", tables=["customers"]).error_code == "not_allowed"


def test_changes_are_made_in_a_transaction_of_their_own(server: Server) -> None:
    toolset = database(server, read_only=False)
    rules = [{"tool": "execute", "action": "allow"}]
    requests = [
        ("INSERT INTO notes (customer, body) VALUES (:who, '{}')", {"who": 1}),
        ("INSERT INTO notes (customer, body) VALUES (:who, '{}')", {"who": 99}),
        ("DELETE FROM notes WHERE customer = :who", {"who": 1}),
    ]
    replies = [calls(("execute", {"sql": sql, "parameters": given})) for sql, given in requests]
    agent = agent_with([*replies, says("done")], toolsets=[toolset], permissions=rules, failure_handling="legacy")
    steps = agent.run_sync("go").steps
    assert steps[0].observation == "done: 1 row changed"
    assert steps[1].error_code == "sql_error"
    assert "foreign key" in steps[1].observation
    assert steps[2].observation == "done: 1 row changed"


def test_a_wrong_password_and_a_server_that_is_gone_are_failed_calls_without_secrets(server: Server) -> None:
    wrong = step(Path.cwd(), database(server, password="wrong-password-1"), "query", sql="SELECT 1")
    assert wrong.error_code == "database_gone"
    assert "wrong-password-1" not in wrong.observation
    toolset = database(server)
    assert not step(Path.cwd(), toolset, "query", sql="SELECT 1").error_code
    server.stop()
    try:
        gone = step(Path.cwd(), toolset, "query", sql="SELECT 1")
        assert gone.error_code == "database_gone", gone.observation
        assert PASSWORD not in gone.observation
    finally:
        server.start()
    assert not step(Path.cwd(), toolset, "query", sql="SELECT 1").error_code
