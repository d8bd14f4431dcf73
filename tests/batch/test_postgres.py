"""Batches in a database: what is kept there, and how it is looked at and gone on with."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from time import monotonic
from typing import Any, LiteralString

import psycopg
import pytest
from tests.batch.batch_agents import adding, lines_of, statuses
from tests.postgres import Server

from react_run import ConfigError, FileSink
from react_run.batch import Row, RowResult
from react_run.batch.catalogue import begun
from react_run.batch.engine import Terms
from react_run.batch.postgres import PostgresEngine
from react_run.batch.postgres_claims import Claimed, Decision, claim_row
from react_run.batch.postgres_rows import added
from react_run.batch.running import Batch, BatchHalted
from react_run.cli.exit import ended
from react_run.journal.shipped import Journals, opened
from react_run.journal.shipped_store import PostgresStore
from react_run.journal.shipping import Chunk, JournalFenced, Shipper
from react_run.launch.options import AgentOptions, built

AGENT = """\
name: sums
model:
  kind: scripted
  replies:
    - {tool_calls: [{name: calculate, arguments: {expression: "6*7"}}], usage: {input_tokens: 9, cost: 0.01}}
    - {text: "42", usage: {input_tokens: 9, cost: 0.01}}
toolsets: [math]
"""
RUN = "ab" * 16


@pytest.fixture(autouse=True)
def database(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty database."""
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    with psycopg.connect(server.url.replace("postgres://", "postgresql://"), autocommit=True) as connection:
        connection.execute("drop schema if exists react_run cascade")
        connection.execute("drop schema if exists dbos cascade")
    return server.url


def with_journals(url: str, folder: Path, use: Callable[[Journals], Awaitable[None]]) -> None:
    async def used() -> None:
        async with opened(url, folder) as journals:
            await journals.make()
            await use(journals)

    asyncio.run(used())


async def taken(journals: Journals, owner: str) -> int:
    async with journals.pool.connection() as connection, connection.transaction():
        return await journals.take(connection, RUN, owner)


def record(number: int) -> tuple[dict[str, Any], str]:
    data = {"type": "guard", "run": RUN, "number": number, "text": "é\ud800" if number == 3 else ""}
    return data, json.dumps(data)


def test_who_lost_a_run_finds_out_before_its_next_effect(database: str, tmp_path: Path) -> None:
    async def both(journals: Journals) -> None:
        first = await journals.open(RUN, await taken(journals, "first"))
        first.write(*record(1))
        await first.sync()
        first.write(*record(2))  # on its way when the other takes the run
        second = await journals.open(RUN, await taken(journals, "second"))
        with pytest.raises(JournalFenced, match=f"another process has taken run {RUN[:12]}"):
            await first.sync()
        with pytest.raises(JournalFenced):
            first.write(*record(3))
        second.write(*record(4))
        await second.sync()
        await journals.fetch(RUN, path := tmp_path / "copy.jsonl")
        numbers = [json.loads(line)["number"] for line in path.read_text(encoding="utf-8").splitlines()]
        assert numbers == [1, 4]
        first.close()
        second.close()

    with_journals(database, tmp_path / "copies", both)


def test_what_nobody_waits_for_is_shipped_soon_and_in_order(database: str, tmp_path: Path) -> None:
    async def soon(journals: Journals) -> None:
        sink = await journals.open(RUN, await taken(journals, "one"))
        for number in range(200):
            sink.write(*record(number))
            if number % 50 == 0:
                await asyncio.sleep(0.03)
        size = sink.path.stat().st_size
        for _ in range(500):
            if await journals.fetch(RUN, path := tmp_path / "copy.jsonl") == size:
                break
            await asyncio.sleep(0.01)
        assert path.read_bytes() == sink.path.read_bytes()
        sink.close()
        assert not sink.path.exists()

    with_journals(database, tmp_path / "copies", soon)


@pytest.mark.parametrize("begun", [False, True])
def test_a_journal_is_shipped_although_the_task_that_ships_is_cancelled(
    database: str, tmp_path: Path, begun: bool
) -> None:
    """As at the end of ``asyncio.run``, when rows are given back."""

    async def cancelled(journals: Journals) -> None:
        sink = await journals.open(RUN, await taken(journals, "one"))
        sink.write(*record(1))
        syncing = asyncio.create_task(sink.sync())
        for _ in range(1 + begun):
            await asyncio.sleep(0)
        sending = journals.shipper._sending
        assert sending is not None
        sending.cancel()
        await asyncio.wait_for(syncing, 60)
        assert await journals.fetch(RUN, tmp_path / "copy.jsonl") == sink.path.stat().st_size
        sink.close()

    with_journals(database, tmp_path / "copies", cancelled)


def test_a_database_that_is_away_for_long_ends_the_run(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("react_run.journal.shipping.PATIENCE", 0.2)

    async def away(journals: Journals) -> None:
        sink = await journals.open(RUN, await taken(journals, "one"))
        await journals.pool.close()
        sink.write(*record(1))
        with pytest.raises(Exception, match="does not answer"):
            await sink.sync()
        sink.close()

    with_journals(database, tmp_path / "copies", away)


def test_runs_that_write_together_are_shipped_together_and_fail_alone(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups: list[list[str]] = []
    insert = Shipper._insert

    async def watched(shipper: Shipper, chunks: Collection[Chunk]) -> set[str]:
        groups.append([chunk.run for chunk in chunks])
        return await insert(shipper, chunks)

    monkeypatch.setattr(Shipper, "_insert", watched)

    async def together(journals: Journals) -> None:
        runs = [f"{number:032x}" for number in range(5)]
        async with journals.pool.connection() as connection:
            sinks = [await journals.open(run, await journals.take(connection, run, "one")) for run in runs]
            await journals.take(connection, runs[2], "other")
        for sink in sinks:
            sink.write(*record(1))
        outcomes = await asyncio.gather(*(sink.sync() for sink in sinks), return_exceptions=True)
        assert groups == [runs]
        assert [type(outcome) for outcome in outcomes] == [type(None)] * 2 + [JournalFenced] + [type(None)] * 2
        for run, sink in zip(runs, sinks, strict=True):
            size = await journals.fetch(run, tmp_path / "copy.jsonl")
            assert size == (0 if run == runs[2] else sink.path.stat().st_size)
            sink.close()

    with_journals(database, tmp_path / "copies", together)


def test_a_long_record_is_shipped_in_a_statement_of_its_own(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("react_run.journal.shipping._MOST", 500)

    async def several(journals: Journals) -> None:
        runs = [f"{number:032x}" for number in range(3)]
        async with journals.pool.connection() as connection:
            sinks = [await journals.open(run, await journals.take(connection, run, "one")) for run in runs]
        for sink in sinks:
            sink.write({}, json.dumps("x" * 1_000))
        await asyncio.gather(*(sink.sync() for sink in sinks))
        for run, sink in zip(runs, sinks, strict=True):
            assert await journals.fetch(run, tmp_path / "copy.jsonl") == 1_003
            sink.close()

    with_journals(database, tmp_path / "copies", several)


def run(url: str, rows: list[Any], *, fresh: bool = False, agent: Any = None, **options: Any) -> list[RowResult]:
    """The results of the batch ``sums``."""
    agent = adding() if agent is None else agent

    async def results() -> list[RowResult]:
        reserve = agent.config.limits.max_cost or 0.0
        terms = Terms(max_cost=options.get("max_cost"), reserve=reserve, rate=options.get("rate"))
        engine, _ = await begun(url, "sums", agent, terms, jobs=4, fresh=fresh)
        if options.pop("retry_errors", False):
            await engine.begin("retrying")
            await engine.retry_errors()
            await engine.close()
            engine, _ = await begun(url, "sums", agent, terms, jobs=4)
        return await Batch(agent, rows, engine=engine, **options)

    return asyncio.run(results())


@pytest.mark.slow
def test_rows_in_a_database_go_on_like_those_in_a_file(database: str) -> None:
    odd = {"prompt": "c", "id": "x\0y\ud800"}
    first = run(database, ["a", {"text": "bad"}, odd])
    assert [(result.status, result.attempts) for result in first] == [("ok", 1), ("error", 0), ("ok", 1)]
    again = run(database, ["a", "mended", odd, "d"])
    assert (again[0], again[2]) == (first[0], first[2])
    assert statuses(again) == ["ok"] * 4
    with pytest.raises(ConfigError, match="row 1 is not what it was"):
        run(database, ["other", "mended"])
    with pytest.raises(ConfigError, match="the agent has changed"):
        run(database, ["a"], agent=adding(max_iterations=3))
    with pytest.raises(ConfigError, match="the id 'x' is that of row 0, too"):
        run(database, [{"prompt": "a", "id": "x"}, {"prompt": "b", "id": "x"}], fresh=True)


def asked(database: str, query: LiteralString) -> list[tuple[Any, ...]]:
    with psycopg.connect(database.replace("postgres://", "postgresql://"), autocommit=True) as connection:
        return connection.execute(query).fetchall()


QUEUED = """
select priority, given.inputs
from dbos.workflow_status join dbos.workflow_input as given using (workflow_uuid) order by priority
"""


@pytest.mark.slow
def test_rows_are_added_and_queued_in_one_transaction_and_in_order(database: str) -> None:
    async def added(name: str, rows: list[Row]) -> None:
        engine, _ = await begun(database, name, adding(), Terms())
        await engine.begin(f"adds-{name}")
        try:
            await engine.add(rows)
        finally:
            await engine.close()

    asyncio.run(added("sums", [Row(index=index, prompt="a", problem="bad" * (index == 1)) for index in range(4)]))
    queued = asked(database, QUEUED)
    assert [json.loads(inputs)["positionalArgs"][1:] for _, inputs in queued] == [[0, 0], [2, 0], [3, 0]]
    with pytest.raises(ConfigError, match="the id 'x' is that of row 0, too"):
        asyncio.run(added("twice", [Row(index=index, id="x", place=f"row {index}") for index in range(2)]))
    assert asked(database, QUEUED) == queued


@pytest.mark.slow
def test_a_worker_gives_signs_of_life_before_it_begins_to_work(database: str) -> None:
    """As long as a process adds rows, it does not work on them yet, though it may be offered some."""

    async def waits() -> None:
        engine, _ = await begun(database, "sums", adding(), Terms())
        await engine.begin("adds")
        before = asked(database, "select beat from react_run.workers")
        for _ in range(3_000):
            await asyncio.sleep(0.1)
            if asked(database, "select beat from react_run.workers") != before:
                break
        else:
            pytest.fail("no sign of life")
        await engine.close()

    asyncio.run(waits())


@pytest.mark.slow
def test_the_limit_of_cost_holds_in_a_database_too(database: str) -> None:
    with pytest.raises(BatchHalted, match=r"the limit of \$0.05 was reached") as halted:
        run(database, ["a"] * 30, agent=adding(limits={"max_cost": 0.02}), max_cost=0.05)
    assert halted.value.progress.cost is not None
    assert 0.03 <= halted.value.progress.cost <= 0.05 + 1e-9


@pytest.mark.slow
def test_workers_that_claim_at_the_same_time_keep_the_limit_of_cost(database: str) -> None:
    """Each counts the claims of those that it had to wait for."""

    async def claimed() -> int:
        agent = adding(limits={"max_cost": 0.02})
        engine, _ = await begun(database, "sums", agent, Terms(max_cost=0.05, reserve=0.02), jobs=8)
        await engine.begin("adds")
        await engine.add(Row(index=index, prompt="a") for index in range(8))
        assert engine.batch is not None
        batch = engine.batch.id

        async def claim(position: int) -> object:
            async with engine.pool.connection() as connection:
                return await claim_row(connection, f"worker-{position}", batch, position)

        found = await asyncio.gather(*map(claim, range(8)))
        await engine.close()
        return sum(isinstance(one, Claimed) for one in found)

    assert asyncio.run(claimed()) == 2


ALIVE = "insert into react_run.workers (executor, beat) values ('first', clock_timestamp() + interval '1 day')"


@pytest.mark.parametrize(
    ("position", "terms"),
    [(1, Terms(max_cost=0.03, reserve=0.02)), (0, Terms())],
    ids=["another row, under a limit of cost", "the same row"],
)
def test_a_claim_waits_for_one_that_is_not_committed_yet_and_counts_it(
    database: str, position: int, terms: Terms
) -> None:
    """What a transaction claimed is seen only when it ends: without the wait, both claims would be granted."""
    blocked = "select count(*) from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0"

    async def scenario() -> None:
        engine, _ = await begun(database, "sums", adding(), terms)
        try:
            assert engine.batch is not None
            batch = engine.batch.id
            async with engine.pool.connection() as one, engine.pool.connection() as two:
                async with one.transaction():
                    await added(one, batch, [Row(index=index, prompt="a") for index in range(2)])
                    await one.execute(ALIVE)
                async with one.transaction():
                    assert isinstance(await claim_row(one, "first", batch, 0), Claimed)
                    second = asyncio.ensure_future(claim_row(two, "second", batch, position))
                    async with engine.pool.connection() as looking:
                        while not second.done():
                            if (await (await looking.execute(blocked)).fetchone() or (0,))[0]:
                                break
                            await asyncio.sleep(0.01)
                    assert not second.done(), await second
                assert await second is Decision.LATER
        finally:
            await engine.close()

    asyncio.run(scenario())


class Suspended:
    """A connection of a worker that is suspended right after one of its statements."""

    def __init__(self, connection: Any, after: str) -> None:
        self._connection, self._after = connection, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def execute(self, query: str, *values: Any) -> Any:
        answer = await self._connection.execute(query, *values)
        if self._after in query:
            await asyncio.Event().wait()
        return answer


@pytest.mark.slow
@pytest.mark.parametrize("after", ["from react_run.rows where batch", "with taken as"])
def test_a_worker_that_is_suspended_in_a_claim_soon_holds_no_locks(database: str, after: str) -> None:
    async def scenario() -> None:
        engine, _ = await begun(database, "sums", adding(), Terms())
        try:
            assert engine.batch is not None
            async with engine.pool.connection() as one, engine.pool.connection() as two:
                await added(two, engine.batch.id, [Row(index=0, prompt="a")])
                first = asyncio.ensure_future(claim_row(Suspended(one, after), "first", engine.batch.id, 0))
                await two.execute("set lock_timeout = '60s'")
                while not first.done():  # until the first one has its lock
                    if not await (await two.execute("select 1 from react_run.rows for update skip locked")).fetchone():
                        break
                    await asyncio.sleep(0.01)
                assert isinstance(await claim_row(two, "second", engine.batch.id, 0), Claimed)
                first.cancel()
                await asyncio.wait([first])
        finally:
            await engine.close()

    asyncio.run(scenario())


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Calls the command line: status, standard output, standard error."""
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    (tmp_path / "rows.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")

    def called(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
        status = ended(list(arguments))
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return called


@pytest.mark.slow
def test_the_commands_find_batches_and_runs_in_the_database(call: Any, database: str, tmp_path: Path) -> None:
    there = ("--engine", database)
    status, _, err = call("batch", "agent.yaml", "rows.txt", "-o", "out.jsonl", *there)
    assert (status, "3 rows: 3 ok" in err) == (0, True)
    lines = lines_of(tmp_path / "out.jsonl")
    run_id = lines[0]["run_id"]
    (batch,) = json.loads(call("batch", "status", "--json", *there)[1])
    assert (batch["state"], batch["ok"]) == ("finished", 3)
    results = call("batch", "results", batch["batch"], *there)[1].splitlines()
    assert [json.loads(line) for line in results] == lines
    assert call("batch", "stop", batch["batch"], *there)[0] == 0
    assert run_id[:12] in call("runs", "list", *there)[1]
    assert "calculate" in call("trace", run_id[:12], *there)[1]
    assert call("replay", run_id, *there)[0] == 0
    assert "had already ended: this is its recorded answer" in call("resume", run_id, *there)[2]
    assert "has no run 'ffff'" in call("trace", "ffff", *there)[2]


@pytest.mark.slow
def test_an_interrupted_run_in_the_database_can_be_resumed_alone(call: Any, database: str, tmp_path: Path) -> None:
    assert call("agent.yaml", "one", "--record", "whole.jsonl")[0] == 0
    whole = (tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
    run_id = json.loads(whole[0])["run"]

    async def interrupted(journals: Journals) -> None:
        async with journals.pool.connection() as connection, connection.transaction():
            await journals.take(connection, run_id, "gone")
            await connection.execute("insert into react_run.chunks values (%s, 0, %s)", (run_id, b"".join(whole[:6])))

    with_journals(database, tmp_path / "copies", interrupted)
    status, out, err = call("resume", run_id[:12], "--engine", database, "--trust")
    assert (status, out.strip()) == (0, "42"), err
    assert "end completed" in call("trace", run_id, "--engine", database)[1]
    summary = next(PostgresStore(database).summaries())
    PostgresStore(database).remove(summary)
    assert "has no runs" in call("trace", "--last", "--engine", database)[2]


def test_a_database_that_cannot_be_reached_is_named_without_its_password(call: Any) -> None:
    nowhere = "postgres://me:hunter2hunter2@127.0.0.1:1/x"
    status, _, err = call("batch", "status", "--engine", nowhere)
    assert status == 2
    assert "cannot reach the database postgres://127.0.0.1:1/x" in err
    assert "hunter2" not in err


def test_a_working_copy_is_locked_like_any_journal(database: str, tmp_path: Path) -> None:
    async def locked(journals: Journals) -> None:
        sink = await journals.open(RUN, await taken(journals, "one"))
        with pytest.raises(Exception, match="another run is writing"):
            FileSink(sink.path)
        sink.close()

    with_journals(database, tmp_path / "copies", locked)


LOSES = """
create function react_run.lose() returns trigger language plpgsql as $$
begin
    if new.workflow_uuid like '%/1/0' then
        new.status := 'PENDING';
        new.executor_id := (select executor from react_run.workers order by beat desc limit 1);
    end if;
    return new;
end $$;
create trigger lose before insert on dbos.workflow_status for each row execute function react_run.lose();
"""


@pytest.mark.slow
def test_a_row_that_got_lost_on_its_way_to_a_worker_is_handed_out_again(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the connection breaks while rows are handed out: the database says who has it, and nobody has it."""
    monkeypatch.setattr("react_run.batch.liveness._LOST", 0.2)
    assert statuses(run(database, ["a"])) == ["ok"]
    with psycopg.connect(database.replace("postgres://", "postgresql://"), autocommit=True) as connection:
        connection.execute(LOSES)
    results = run(database, ["a", "b", "c"], fresh=True)
    assert [(result.status, result.attempts) for result in results] == [("ok", 1)] * 3


@pytest.mark.slow
def test_the_rate_of_requests_holds_in_a_database_too(database: str) -> None:
    started = monotonic()
    assert statuses(run(database, ["a"] * 5, rate=600)) == ["ok"] * 5
    assert monotonic() - started >= 0.1 * 9 - 0.02  # two requests for each row


@pytest.mark.slow
def test_one_worker_serves_several_agents_and_ends_when_nothing_is_left(
    call: Any, database: str, tmp_path: Path
) -> None:
    (tmp_path / "other.yaml").write_text(AGENT.replace("name: sums", "name: other"), encoding="utf-8")
    agents = {name: built(AgentOptions(file=f"{name}.yaml").config(), [], ()) for name in ("agent", "other")}

    async def begin(name: str) -> None:
        engine, _ = await begun(database, name, agents[name], Terms())
        await engine.begin(f"adds-{name}")
        await engine.add(Row(index=index, prompt=f"row {index}") for index in range(6))
        await engine.close()

    for name in agents:
        asyncio.run(begin(name))
    assert call("worker", "agent.yaml", "other.yaml", "--engine", database, "--once", "-j", "2")[0] == 0
    states = json.loads(call("batch", "status", "--json", "--engine", database)[1])
    assert {(state["batch"], state["ok"]) for state in states} == {("agent", 6), ("other", 6)}
    assert call("worker", "agent.yaml", "none.yaml", "--engine", database, "--once")[0] == 2


def test_two_that_make_the_tables_at_the_same_time_take_turns(database: str) -> None:
    url = database.replace("postgres://", "postgresql://")
    waiting = "select count(*) from pg_locks where locktype = 'advisory' and not granted"

    async def scenario() -> None:
        engine = PostgresEngine(database, version="1", jobs=1)
        try:
            async with await psycopg.AsyncConnection.connect(url) as first:
                await first.execute("select pg_advisory_xact_lock(hashtext('react_run.tables'))")
                second = asyncio.ensure_future(engine.reach())
                async with await psycopg.AsyncConnection.connect(url, autocommit=True) as looking:
                    while not second.done():
                        if (await (await looking.execute(waiting)).fetchone() or (0,))[0]:
                            break
                        await asyncio.sleep(0.01)
                assert not second.done()
            await second
        finally:
            await engine.close()

    asyncio.run(scenario())
