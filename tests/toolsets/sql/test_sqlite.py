"""The ``sql`` toolset over SQLite: questions are answered, and nothing else happens to the file."""

from __future__ import annotations

import asyncio
import hashlib
import re
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.questions.test_questions import Person
from tests.toolsets.running import run_in, step

from react_run import ConfigError, ReActAgent, ReActAgentConfig, ReActStep, ToolsetError, read_journal
from react_run.journal.replay.replay import replay
from react_run.testing import agent_with, calls, says
from react_toolsets.sql import SqlToolset

ROOT = Path(__file__).parents[3]
COUNT = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) SELECT count(*) FROM n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A copy of the database of the analyst."""
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript((ROOT / "agents" / "analyst" / "shop.sql").read_text(encoding="utf-8"))
    connection.close()
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def ask(path: Path, sql: str, parameters: dict[str, Any] | None = None, **options: Any) -> ReActStep:
    given = {"sql": sql} if parameters is None else {"sql": sql, "parameters": parameters}
    return step(path.parent, SqlToolset(database=path, **options), "query", **given)


def rows(path: Path, sql: str, parameters: dict[str, Any] | None = None, **options: Any) -> list[str]:
    done = ask(path, sql, parameters, **options)
    assert not done.error_code, done.observation
    return done.observation.splitlines()


# -- reading ---------------------------------------------------------------------------------------------------------


def test_tables_are_listed_and_described(shop: Path) -> None:
    toolset = SqlToolset(database=shop)
    listed = step(shop.parent, toolset, "list_tables").observation.splitlines()
    assert listed == ["customers", "order_lines", "orders", "products", "[4 tables]"]
    assert step(shop.parent, toolset, "list_tables", search="ORDER").observation.endswith("[2 tables]")
    described = step(shop.parent, toolset, "describe_table", table="Orders").observation
    for line in (
        "orders",
        "id INTEGER, primary key",
        "not null",
        "(customer_id) -> customers(id)",
        "index on (customer_id)",
    ):
        assert line in described
    unknown = step(shop.parent, toolset, "describe_table", table="order")
    assert unknown.error_code == "unknown_table"
    assert "Did you mean orders?" in unknown.observation


@pytest.mark.parametrize(
    ("sql", "parameters", "expected"),
    [
        (
            "SELECT name FROM customers WHERE country = :c ORDER BY 1",
            {"c": "GB"},
            ["name", "Ada", "Dorothy", "[2 rows]"],
        ),
        ("SELECT ':x' AS a, 'a|b' AS b, NULL AS c", None, ["a | b | c", ":x | a\\|b | NULL", "[1 row]"]),
        ("SELECT 1 WHERE 1 = 0", None, ["1", "[0 rows]"]),
        ("SELECT :t AS t", {"t": "'; DROP TABLE orders; --"}, ["t", "'; DROP TABLE orders; --", "[1 row]"]),
        ("SELECT 1 UNION SELECT 2 ORDER BY 1", None, ["1", "1", "2", "[2 rows]"]),
        ("WITH t AS (SELECT 5 AS x) SELECT x FROM t;", None, ["x", "5", "[1 row]"]),
        ("SELECT x'00ff' AS b, 'two\nlines' AS l", None, ["b | l", "<2 bytes> | two\\nlines", "[1 row]"]),
    ],
)
def test_a_question_gives_a_compact_table(
    shop: Path, sql: str, parameters: dict[str, Any] | None, expected: list[str]
) -> None:
    assert rows(shop, sql, parameters) == expected


CHANGES = [
    "DELETE FROM orders",
    "UPDATE products SET price = 0",
    "INSERT INTO products VALUES (9, 'x', 1)",
    "DROP TABLE orders",
    "CREATE TABLE x (a)",
    "ALTER TABLE orders ADD COLUMN x",
    "PRAGMA writable_schema = 1",
    "ATTACH DATABASE 'other.db' AS other",
    "VACUUM",
    "BEGIN",
    "REPLACE INTO products VALUES (1, 'x', 1)",
    "WITH x AS (SELECT 1) DELETE FROM orders",
    "SELECT 1; DELETE FROM orders",
    "SELECT load_extension('x')",
    "SELECT writefile('x', 'y')",
    "-- hello",
    "SELEC 1",
    "EXPLAIN DELETE FROM orders",
]


@pytest.mark.parametrize("sql", CHANGES)
def test_what_is_no_single_question_is_refused_before_the_database_sees_it(shop: Path, sql: str) -> None:
    before = digest(shop)
    done = ask(shop, sql)
    assert done.error_code in ("read_only", "one_statement", "not_allowed", "invalid_sql"), done.observation
    assert digest(shop) == before
    assert not (shop.parent / "other.db").exists()


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("sql", [sql for sql in CHANGES if not sql.startswith(("--", "SELEC 1", "SELECT"))])
def test_the_database_refuses_it_as_well(
    shop: Path, monkeypatch: pytest.MonkeyPatch, sql: str, read_only: bool
) -> None:
    monkeypatch.setattr("react_toolsets.sql.toolset.checked", lambda *_: None)  # as if the parser missed it
    before = digest(shop)
    done = ask(shop, sql, read_only=read_only)
    if not sql.startswith("EXPLAIN"):
        assert done.error_code in ("read_only", "sql_error"), done.observation
    assert digest(shop) == before
    assert not (shop.parent / "other.db").exists()


def test_only_the_tables_that_are_named_can_be_used(shop: Path) -> None:
    toolset = SqlToolset(database=shop, tables=["order*"])
    assert step(shop.parent, toolset, "list_tables").observation.splitlines()[:2] == ["order_lines", "orders"]
    refused = step(shop.parent, toolset, "query", sql="SELECT o.id FROM orders o, customers c")
    assert refused.error_code == "not_allowed"
    assert "the table customers may not be used" in refused.observation
    assert step(shop.parent, toolset, "query", sql="SELECT name FROM sqlite_master").error_code == "not_allowed"
    own = "WITH customers AS (SELECT id FROM orders) SELECT count(*) FROM customers"
    assert not step(shop.parent, toolset, "query", sql=own).error_code


# -- limits ----------------------------------------------------------------------------------------------------------


def test_a_statement_that_takes_too_long_is_stopped(shop: Path) -> None:
    began = time.monotonic()
    done = ask(shop, COUNT, timeout=0.3)
    assert done.error_code == "timeout"
    assert time.monotonic() - began < 20


def test_a_cancelled_run_stops_its_statement(shop: Path) -> None:
    toolset = SqlToolset(database=shop)
    agent = agent_with([calls(("query", {"sql": COUNT})), says("done")], toolsets=[toolset])

    async def scenario() -> float:
        task = asyncio.ensure_future(agent.run("go"))
        await asyncio.sleep(0.5)
        began = time.monotonic()
        task.cancel()
        await asyncio.wait((task,))
        return time.monotonic() - began

    assert asyncio.run(scenario()) < 4


def test_rows_and_bytes_are_bounded_and_the_model_is_told(shop: Path) -> None:
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i FROM n"
    found = rows(shop, numbers, max_rows=3)
    assert found == [
        "i",
        "1",
        "2",
        "3",
        "[the first 3 rows; the limit of 3 rows was reached. Aggregate, or use WHERE and LIMIT]",
    ]
    assert "the limit on the size of a result was reached" in rows(shop, numbers, max_bytes=2_000, max_rows=10**6)[-1]


def test_a_long_result_is_saved_whole_and_previewed(shop: Path) -> None:
    numbers = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, 'text' AS t FROM n"
    )
    result = run_in(
        shop.parent,
        [calls(("query", {"sql": numbers})), says("done")],
        toolsets=[SqlToolset(database=shop)],
        max_result_bytes=1_024,
    )
    assert "saved whole in" in result.steps[0].observation
    (saved,) = (shop.parent / ".react-run").rglob("*query*")
    assert saved.read_text(encoding="utf-8").rstrip().endswith("[900 rows]")


# -- changing --------------------------------------------------------------------------------------------------------


def changing(shop: Path, sql: str, *plugins: object, **config: Any) -> ReActStep:
    toolset = SqlToolset(database=shop, read_only=False)
    replies = [calls(("execute", {"sql": sql, "parameters": {"p": 1}})), says("done")]
    agent = agent_with(replies, toolsets=[toolset], plugins=plugins, **config)
    return agent.run_sync("go").steps[0]


def test_changes_need_read_only_false_permissions_and_a_person(shop: Path) -> None:
    sql = "UPDATE products SET price = price + :p WHERE name = 'cup'"
    before = digest(shop)
    assert [tool.name for tool in SqlToolset(database=shop).tools()] == ["list_tables", "describe_table", "query"]
    assert changing(shop, sql).error_code == "permissions_missing"
    assert changing(shop, sql, Person("no"), permissions=[]).error_code in ("declined", "permissions_missing")
    assert digest(shop) == before
    person = Person("yes")
    done = changing(shop, sql, person, permissions=[{"tool": "query", "action": "allow"}])
    assert done.observation == "done: 1 row changed"
    assert "UPDATE products" in str(person.questions[0])
    assert rows(shop, "SELECT price FROM products WHERE name = 'cup'")[1] == "7"


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("UPDATE products SET price = :p", "every_row"),
        ("DELETE FROM orders", "every_row"),
        ("DROP TABLE orders", "not_allowed"),
        ("SELECT 1", "not_allowed"),
        ("INSERT INTO products VALUES (:p, 'again', 1)", "sql_error"),
    ],
)
def test_some_changes_are_refused_all_the_same(shop: Path, sql: str, code: str) -> None:
    before = digest(shop)
    done = changing(shop, sql, permissions=[{"tool": "*", "action": "allow"}])
    assert done.error_code == code, done.observation
    assert digest(shop) == before


# -- what can go wrong -----------------------------------------------------------------------------------------------


def test_a_database_that_is_locked_gone_or_damaged_is_a_failed_call(shop: Path) -> None:
    other = sqlite3.connect(shop, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert ask(shop, "SELECT count(*) FROM orders").error_code == "locked"
    other.execute("ROLLBACK")
    other.close()
    toolset = SqlToolset(database=shop)
    toolset.tools()
    shop.write_bytes(b"not a database at all" * 100)
    assert step(shop.parent, toolset, "query", sql="SELECT 1 FROM orders").error_code == "damaged"
    shop.unlink()
    assert step(shop.parent, toolset, "query", sql="SELECT 1").error_code == "database_gone"
    assert step(shop.parent, toolset, "list_tables").error_code == "database_gone"


@pytest.mark.parametrize(
    ("options", "place", "text"),
    [
        ("{kind: sql}", "3:5", "give either database"),
        ("{kind: sql, database: a.db, url: 'postgresql://x/y'}", "3:5", "give either database"),
        ("{kind: sql, url: 'mysql://x/y'}", "3:5", "other databases are not supported"),
        ("{kind: sql, database: shop.db, max_rows: 0}", "3:46", "at least 1"),
        ("{kind: sql, database: shop.db, tables: []}", "3:44", "a list of at least 1 entries"),
        ("{kind: sql, database: shop.db, reed_only: true}", "3:36", "Did you mean 'read_only'?"),
        ("{kind: sql, database: none.db}", "3:5", "does not exist"),
    ],
)
def test_what_is_wrong_in_the_file_is_reported_with_its_place(shop: Path, options: str, place: str, text: str) -> None:
    path = shop.parent / "agent.yaml"
    path.write_text(f"version: 1\ntoolsets:\n  - {options}\n")
    with pytest.raises((ConfigError, ToolsetError), match=re.escape(text)) as caught:
        ReActAgent.from_yaml(path)
    assert str(caught.value).startswith(f"{path}:{place}: "), str(caught.value)


def test_a_missing_library_is_named_with_the_extra(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("react_toolsets.sql.toolset.find_spec", lambda name: None)
    with pytest.raises(ToolsetError, match=r"pip install 'react-run\[sql\]'"):
        SqlToolset(database=shop).tools()


@pytest.mark.parametrize(
    ("options", "trusted"),
    [
        ("database: shop.db", True),
        ("url: 'sqlite:///shop.db'", True),
        ("database: ../shop.db", False),
        ("database: shop.db, read_only: false", False),
        ("url: 'postgresql://localhost/x'", False),
    ],
)
def test_what_an_untrusted_file_may_ask(shop: Path, options: str, trusted: bool) -> None:
    path = shop.parent / "agent.yaml"
    path.write_text(f"version: 1\ntoolsets:\n  - {{kind: sql, {options}}}\n")
    if trusted:
        config = ReActAgentConfig.from_yaml(path, trusted=False)
        assert config.toolsets[0].database == shop  # type: ignore[attr-defined]  # it is one
    else:
        with pytest.raises(ConfigError, match="trust"):
            ReActAgentConfig.from_yaml(path, trusted=False)


# -- what the model is told ------------------------------------------------------------------------------------------


def test_a_small_schema_is_in_the_description_and_a_large_one_in_the_skill(shop: Path) -> None:
    (query,) = [tool for tool in SqlToolset(database=shop).tools() if tool.name == "query"]
    assert "orders(id INTEGER, customer_id INTEGER, ordered_on TEXT)" in query.description
    connection = sqlite3.connect(shop)
    for number in range(60):
        connection.execute(f"CREATE TABLE extra_{number} (a_long_column_name INTEGER, another_long_column_name TEXT)")
    connection.close()
    large = SqlToolset(database=shop)
    (query,) = [tool for tool in large.tools() if tool.name == "query"]
    assert "extra_7" not in query.description
    (skill,) = large.get_skill_specs()
    assert "extra_7(a_long_column_name INTEGER" in skill.instructions


def test_the_agent_that_ships_answers_and_can_be_replayed(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    agent = ReActAgent.from_yaml(ROOT / "agents" / "analyst.yaml").replace(journal=path)
    result = agent.run_sync("Who spent most?")
    assert result.success
    assert result.steps[1].observation.splitlines() == ["name | spent", "Dorothy | 100.4", "Ada | 75.9", "[2 rows]"]
    for tools in ("recorded", "live"):
        assert asyncio.run(replay(read_journal(path), agent, tools=tools)).complete


def test_the_database_that_ships_is_made_of_its_script(shop: Path) -> None:
    shipped = sqlite3.connect(ROOT / "agents" / "analyst" / "shop.db")
    made = sqlite3.connect(shop)
    assert list(shipped.iterdump()) == list(made.iterdump())
    shipped.close()
    made.close()


def test_the_example_of_the_page_works(shop: Path) -> None:
    text = (ROOT / "docs" / "toolsets" / "sql.md").read_text(encoding="utf-8")
    source = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[0]
    path = shop.parent / "agent.yaml"
    path.write_text(source, encoding="utf-8")
    assert yaml.safe_load(source)["toolsets"][0]["database"] == "shop.db"
    result = ReActAgent.from_yaml(path).run_sync("How many orders are there?")
    assert (result.answer, result.steps[0].observation.splitlines()[1]) == ("There are 4 orders.", "4")
