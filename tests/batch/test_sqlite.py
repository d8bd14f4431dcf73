"""The queue in a file: what counts is on disk when it is confirmed, and threads and processes take turns."""

from __future__ import annotations

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.batch.test_engine import result_for, rows

from react_run import JournalError
from react_run.batch import EngineError
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

    monkeypatch.setattr("react_run.batch.queue_file.sqlite3.connect", watched)
    return statements


def transactions(statements: list[str], since: int = 0) -> list[tuple[str, str]]:
    """How each transaction after so many statements begins: how durable it is, and with which lock."""
    found, durability = [], ""
    for number, statement in enumerate(map(str.lower, statements)):
        if statement.startswith("pragma synchronous"):
            durability = statement.rpartition(" ")[2]
        elif statement.startswith("begin") and number >= since:
            found.append((durability, statement))
    return found


def test_rows_and_results_are_on_disk_when_they_are_confirmed(tmp_path: Path, said: list[str]) -> None:
    async def scenario() -> None:
        engine = SqliteEngine(Home(tmp_path / "batch"), batch="b")
        begun = len(said)
        await engine.add(rows(1))
        assert {*transactions(said, begun)} == {("full", "begin immediate")}
        begun = len(said)
        (claim,) = await engine.take("worker", 1)
        assert transactions(said, begun) == [("normal", "begin immediate")]
        begun = len(said)
        assert await engine.finish(claim, result_for(claim))
        assert transactions(said, begun) == [("full", "begin immediate")]
        await engine.close()

    asyncio.run(scenario())


def test_results_that_come_together_share_a_durable_transaction(tmp_path: Path, said: list[str]) -> None:
    async def scenario() -> None:
        engine = SqliteEngine(Home(tmp_path / "batch"), batch="b")
        await engine.add(rows(9))
        claims = await engine.take("worker", 8)
        begun = len(said)
        finishing = [engine.finish(claim, result_for(claim)) for claim in claims]
        kept, more = await asyncio.gather(asyncio.gather(*finishing), engine.take("worker", 1))
        assert kept == [True] * 8
        assert [claim.row.index for claim in more] == [8]
        assert transactions(said, begun) == [("full", "begin immediate")]
        await engine.close()

    asyncio.run(scenario())


def test_a_queue_that_cannot_be_written_confirms_nothing_and_keeps_no_lock(tmp_path: Path) -> None:
    async def scenario() -> None:
        engine = SqliteEngine(Home(tmp_path / "batch"), batch="b")
        await engine.add(rows(2))
        (claim,) = await engine.take("worker", 1)
        with engine.file.reading() as db:
            db.execute("pragma query_only = on")
        answers = await asyncio.gather(
            engine.finish(claim, result_for(claim)), engine.take("worker", 1), return_exceptions=True
        )
        assert [type(answer) for answer in answers] == [EngineError, EngineError]
        with engine.file.reading() as db:
            db.execute("pragma query_only = off")
        (other,) = await engine.take("worker", 1)  # the lock of the take that failed was released
        assert (other.row.index, other.epoch) == (1, 1)
        assert await engine.finish(claim, result_for(claim))
        await engine.close()

    asyncio.run(scenario())


def test_a_journal_that_cannot_be_opened_fails_no_other_result(tmp_path: Path) -> None:
    async def scenario() -> None:
        engine = SqliteEngine(Home(tmp_path / "batch"), batch="b")
        await engine.add(rows(2))
        (claim,) = await engine.take("worker", 1)
        (engine.home.runs / f"{rows(2)[1].run_id('b')}.jsonl").mkdir()
        kept, taken = await asyncio.gather(
            engine.finish(claim, result_for(claim)), engine.take("worker", 1), return_exceptions=True
        )
        assert kept is True
        assert isinstance(taken, JournalError)
        await engine.close()

    asyncio.run(scenario())


def test_a_queue_of_an_earlier_version_is_refused(tmp_path: Path) -> None:
    engine = SqliteEngine(Home(tmp_path / "batch"), batch="b")
    engine.set("version", "1")
    engine.close_now()
    with pytest.raises(EngineError, match=r"earlier version.*--fresh"):
        SqliteEngine(Home(tmp_path / "batch"))


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
