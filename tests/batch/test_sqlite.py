"""The queue in a file: what counts is on disk when it is confirmed, and threads and processes take turns."""

from __future__ import annotations

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.batch.test_engine import result_for, rows

from react_run.batch.home import Home
from react_run.batch.sqlite import SqliteEngine


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the database is told, in order."""
    statements: list[str] = []
    connect = sqlite3.connect

    def watched(*args: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **options)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr("react_run.batch.sqlite.sqlite3.connect", watched)
    return statements


def transactions(statements: list[str]) -> list[tuple[str, str]]:
    """How each transaction begins: how durable it is, and with which lock."""
    found, durability = [], ""
    for statement in map(str.lower, statements):
        if statement.startswith("pragma synchronous"):
            durability = statement.rpartition(" ")[2]
        elif statement.startswith("begin"):
            found.append((durability, statement))
    return found


def test_rows_and_results_are_on_disk_when_they_are_confirmed(tmp_path: Path, said: list[str]) -> None:
    async def scenario() -> None:
        engine = SqliteEngine(Home(tmp_path / "batch"), batch="b")
        said.clear()
        await engine.add(rows(1))
        assert transactions(said) == [("full", "begin immediate")]
        (claim,) = await engine.take("worker", 1)
        said.clear()
        assert await engine.finish(claim, result_for(claim))
        assert transactions(said) == [("full", "begin immediate")]
        await engine.close()

    asyncio.run(scenario())


def test_every_transaction_of_a_queue_takes_its_lock_at_once(tmp_path: Path, said: list[str]) -> None:
    engine = SqliteEngine(Home(tmp_path / "batch"), batch="b")
    engine.set("note", "one")
    engine.close_now()
    assert {begun for _, begun in transactions(said)} == {"begin immediate"}


def test_threads_that_share_a_queue_take_turns(tmp_path: Path) -> None:
    engine = SqliteEngine(Home(tmp_path / "batch"), batch="b")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: engine.set(f"note {number}", number), range(400)))
    assert [engine.get(f"note {number}") for number in range(400)] == [str(number) for number in range(400)]
    engine.close_now()
