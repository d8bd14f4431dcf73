"""The engine for many machines: rows, results and limits in PostgreSQL, handed out by DBOS.

Each row is a workflow of one step, in a queue that DBOS keeps. The step only passes the row to the worker of its
process and waits until the worker is done with it: the journal is the execution, and DBOS never sees what a run does.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, LiteralString, TypeVar

from react_run.batch.dispatch import Dispatch, enqueue, workflow_id
from react_run.batch.engine import LEASE, Beat, Claim, OpenRun, Progress, Terms, Unreachable
from react_run.batch.hold import Hold
from react_run.batch.ledger import DONE, WAITS, Totals, all_together, portions, spent
from react_run.batch.liveness import Liveness, exchange_pauses
from react_run.batch.offers import Key, Offers
from react_run.batch.postgres_rows import OF_ONE, OF_VERSION, added, taken_anew, totals
from react_run.batch.rows import Row, RowResult
from react_run.errors import ConfigError
from react_run.journal.shipped import Journals, ShippedSink, connect, database_error, database_errors, shown_url
from react_run.support.threads import in_thread

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

T = TypeVar("T")
_AT_ONCE = 1_000
_CLAIM = """
select place, payload, run, attempts, failures, state, state = 1 and owner <> %s and exists (
    select from react_run.workers where executor = owner and beat >= clock_timestamp() - %s * interval '1 second')
from react_run.rows where batch = %s and position = %s for update
"""
"""A row, and whether another worker that is alive has it."""
_CLAIMED = """
update react_run.rows set state = 1, owner = %s, epoch = %s, attempts = attempts + 1 where batch = %s and position = %s
"""
_ADMIT = """
update react_run.batches
set next_request = greatest(next_request, extract(epoch from clock_timestamp())) + 60 / rate
where rate is not null and id = %s
returning (next_request - 60 / rate - extract(epoch from clock_timestamp()))::float8
"""
_FINISH = """
with finished as (
    update react_run.rows set state = 2, owner = null, status = %(status)s, result = %(line)s
    where batch = %(batch)s and position = %(position)s and epoch = %(epoch)s and state = 1
    returning batch
)
update react_run.batches
set ok = ok + (%(status)s = 'ok')::int, unsuccessful = unsuccessful + (%(status)s = 'unsuccessful')::int,
    error = error + (%(status)s = 'error')::int, cost = cost + %(cost)s, unpriced = unpriced + %(unpriced)s
where id in (select batch from finished)
"""
_IS_FINISHED = """
select from react_run.rows
where batch = %(batch)s and position = %(position)s and epoch = %(epoch)s and result = %(line)s
"""
_GIVE_BACK = """
update react_run.rows set state = 0, owner = null, failures = failures + %s
where batch = %s and position = %s and epoch = %s and state = 1
"""
_IS_GIVEN_BACK = "select from react_run.rows where batch = %s and position = %s and epoch = %s and state = 0"
_RESULTS = """
select result from react_run.rows where batch = %s and position >= %s and state = 2 order by position limit %s
"""
_TERMS = "update react_run.batches set stopped = false, max_cost = %s, reserve = %s, rate = %s where id = %s"


@dataclass(frozen=True)
class BatchRecord:
    """What the database says about a batch."""

    id: str
    name: str
    agent: str
    output: str | None


class PostgresEngine:
    """The queue of one batch, or of all batches of one agent, for workers on any number of machines.

    Args:
        url: The database.
        version: What batches and workers must have in common: rows of another version are never taken.
        batch: The batch; ``None`` serves all of this version.
        jobs: Rows at once, in one worker.
    """

    def __init__(self, url: str, *, version: str, batch: BatchRecord | None = None, jobs: int = 8) -> None:
        self.url, self.version, self.batch, self.jobs = url, version, batch, jobs
        self.pool: AsyncConnectionPool = connect(url, size=jobs + 4)
        self.folder = Path(tempfile.mkdtemp(prefix="react-run-"))
        self.journals = Journals(self.pool, self.folder)
        self._offers = Offers()
        self._sinks: dict[tuple[Key, int], ShippedSink] = {}
        self._keys: dict[tuple[str, int], Key] = {}
        self._paced: dict[str, str] = {}
        """The batches that have a rate, by the runs of their rows."""
        self._dispatch: Dispatch | None = None
        self._liveness: Liveness | None = None
        self.enqueue = enqueue
        self.hold: Hold | None = None
        """The right to write the results of the batch, for the command that does."""
        self._timers: set[asyncio.TimerHandle] = set()

    async def begin(self, worker: str) -> None:
        """Begin to be handed rows.

        Raises:
            ConfigError: The database cannot be reached, or refuses.
        """
        await self.reach()
        queue = None if self.batch is None else self.batch.id
        self._dispatch = Dispatch(self.url, worker, self.version, self._offers.add, queue=queue)
        self._liveness = Liveness(self.pool, worker, self._dispatch, self._known)
        await self._liveness.begin()
        await in_thread(self._dispatch.begin)

    async def reach(self) -> None:
        """Reach the database, and make the tables.

        Raises:
            ConfigError: The database cannot be reached, or refuses.
        """
        try:
            await self.pool.open(wait=True, timeout=10)
            async with self.pool.connection() as connection, connection.transaction():
                await connection.execute("select pg_advisory_xact_lock(hashtext('react_run.tables'))")
                await connection.execute(files(__package__).joinpath("postgres.sql").read_text(encoding="utf-8"))
                await self.journals.make_in(connection)
        except database_errors() as error:
            raise ConfigError(f"cannot reach the database {shown_url(self.url)}: {database_error(error)}") from error

    # -- the verbs --------------------------------------------------------------------------------------------------

    async def add(self, rows: Iterable[Row]) -> int:
        number, batch, dispatch = 0, self._one, self._dispatch
        assert dispatch is not None  # rows are added by those who began a batch
        await in_thread(lambda: dispatch.queue_for(batch, self.jobs))
        for some in portions(rows, _AT_ONCE):
            number += await self._reached(self._add(batch, some))
        return number

    async def _add(self, batch: str, rows: Sequence[Row]) -> int:
        async with self.pool.connection() as connection, connection.transaction():
            new = await added(connection, batch, rows)
            await self.enqueue(connection, self.version, batch, new)
        return len(new)

    @property
    def _one(self) -> str:
        """The id of the batch."""
        assert self.batch is not None  # who serves all batches of a version only runs their rows
        return self.batch.id

    async def take(self, worker: str, n: int) -> Sequence[Claim]:
        claims: list[Claim] = []
        for _ in range(self._offers.waiting):
            if len(claims) >= n:
                break
            key = self._offers.take()
            try:
                claim = await self._reached(self._claim(worker, key))
            except BaseException:
                self._offers.put_back(key)
                if claims:
                    break
                raise
            if claim is not None:
                claims.append(claim)
        return claims

    async def _claim(self, worker: str, key: Key) -> Claim | None:
        batch, position, _ = key
        async with self.pool.connection() as connection, connection.transaction():
            (one,) = await totals(connection, OF_ONE, batch) or (None,)
            if one is not None and one.max_cost is not None:  # one claim after the other keeps the limit
                (one,) = await totals(connection, f"{OF_ONE} for update", batch) or (None,)
            found = await (await connection.execute(_CLAIM, (worker, LEASE, batch, position))).fetchone()
            if one is None or found is None or found[5] == DONE:  # removed, or it has its result
                self._offers.over(key)
                return None
            place, payload, run, attempts, failures, state, others = found
            # One that slept beyond its lease wakes with offers that went to others meanwhile: it leaves them theirs.
            if one.stopped or others or (state == WAITS and not one.affordable(1)):
                self._offers.wait(key)
                return None
            epoch = await self.journals.take(connection, run, worker)
            await connection.execute(_CLAIMED, (worker, epoch, batch, position))
        self._keys[run, epoch] = key
        if one.rate is not None:
            self._paced[run] = batch
        row = Row.from_payload(position, payload, place)
        return Claim(row=row, run_id=run, epoch=epoch, attempts=attempts + 1, failures=failures)

    async def admit(self, run_id: str) -> float:
        batch = self._paced.get(run_id)
        return 0.0 if batch is None else await self._reached(self._admit(batch))

    async def _admit(self, batch: str) -> float:
        async with self.pool.connection() as connection:
            found = await (await connection.execute(_ADMIT, (batch,))).fetchone()
            return 0.0 if found is None else max(0.0, float(found[0]))

    async def open(self, claim: Claim) -> OpenRun:
        sink = await self.journals.open(claim.run_id, claim.epoch)
        self._sinks[self._keys[claim.run_id, claim.epoch], claim.epoch] = sink
        return OpenRun(path=sink.path, sink=sink)

    async def finish(self, claim: Claim, result: RowResult) -> bool:
        from react_run.errors import JournalError
        from react_run.journal.shipped import JournalFenced

        key = self._keys[claim.run_id, claim.epoch]
        sink = self._sinks.get((key, claim.epoch))
        if sink is not None and result.status != "error":
            try:
                await sink.sync()
            except JournalFenced:
                self._offers.lost(self._let_go(claim))
                return False
            except JournalError as error:
                raise Unreachable(str(error)) from error
        kept = await self._reached(self._finish(key, claim, result))
        self._let_go(claim)
        if kept:
            self._offers.over(key)
        else:
            self._offers.lost(key)
        return kept

    async def _finish(self, key: Key, claim: Claim, result: RowResult) -> bool:
        cost, unpriced = spent(result)
        values = {
            "batch": key[0],
            "position": key[1],
            "epoch": claim.epoch,
            "status": result.status,
            "line": result.line(),
            "cost": cost,
            "unpriced": unpriced,
        }
        async with self.pool.connection() as connection:
            if (await connection.execute(_FINISH, values)).rowcount == 1:
                return True
            found = await connection.execute(_IS_FINISHED, values)  # it was kept, and the answer got lost
            return found.rowcount == 1

    async def give_back(self, claim: Claim, after: float) -> None:
        key = self._keys[claim.run_id, claim.epoch]
        sink = self._sinks.get((key, claim.epoch))
        if sink is not None:
            with suppress(Exception):  # what could not be shipped is done again
                await asyncio.wait_for(sink.sync(), 2)
        ours = await self._reached(self._give_back(key, claim, after))
        self._let_go(claim)
        if ours:
            self._timers.add(asyncio.get_running_loop().call_later(after, self._offers.wait, key))
        else:
            self._offers.lost(key)

    async def _give_back(self, key: Key, claim: Claim, after: float) -> bool:
        which = (key[0], key[1], claim.epoch)
        async with self.pool.connection() as connection:
            if (await connection.execute(_GIVE_BACK, (int(after > 0), *which))).rowcount == 1:
                return True
            return (await connection.execute(_IS_GIVEN_BACK, which)).rowcount == 1  # it was, and the answer got lost

    def _let_go(self, claim: Claim) -> Key:
        key = self._keys.pop((claim.run_id, claim.epoch))
        self._paced.pop(claim.run_id, None)
        if (sink := self._sinks.pop((key, claim.epoch), None)) is not None:
            sink.close()
        return key

    async def beat(self, worker: str, pauses: Mapping[str, float]) -> Beat:
        async def exchanged() -> Mapping[str, float]:
            known = await exchange_pauses(self.pool, pauses)
            if self._liveness is not None:
                await self._liveness.beat()
            return known

        return Beat(pauses=await self._reached(exchanged()))

    def _known(self) -> set[str]:
        return {workflow_id(key) for key in self._offers.keys}

    async def progress(self) -> Progress:
        async def asked() -> Sequence[Totals]:
            async with self.pool.connection() as connection:
                if self.batch is None:
                    return await totals(connection, OF_VERSION, self.version)
                return await totals(connection, OF_ONE, self.batch.id)

        found = await self._reached(asked())
        if self.batch is None:
            return all_together(found)
        if not found:
            raise ConfigError("the batch was removed")
        return found[0].progress()

    async def results(self, start: int, n: int) -> Sequence[RowResult]:
        if self.hold is not None:
            self.hold.check()

        async def asked() -> Sequence[RowResult]:
            async with self.pool.connection() as connection:
                found = await connection.execute(_RESULTS, (self._one, start, n))
                return [RowResult.from_line(line) for (line,) in await found.fetchall()]

        return await self._reached(asked())

    async def cancel(self) -> None:
        await self._reached(self._execute("update react_run.batches set stopped = true where id = %s", self._one))

    async def set_terms(self, terms: Terms) -> None:
        """What holds for all workers from now on; the batch is not stopped any more."""
        await self._reached(self._execute(_TERMS, terms.max_cost, terms.reserve, terms.rate, self._one))

    async def _execute(self, statement: LiteralString, *values: object) -> None:
        async with self.pool.connection() as connection:
            await connection.execute(statement, values)

    async def retry_errors(self) -> int:
        """Have rows that ended with an error go on from their journals; how many."""

        async def again() -> int:
            async with self.pool.connection() as connection, connection.transaction():
                positions = await taken_anew(connection, self._one)
                await self.enqueue(connection, self.version, self._one, positions)
                return len(positions)

        return await self._reached(again())

    async def close(self) -> None:
        for timer in self._timers:
            timer.cancel()
        for sink in self._sinks.values():
            sink.close()
        self._sinks.clear()
        self._offers.clear()  # not answered: rows that are not done must not pass for done
        if self._liveness is not None:
            await self._liveness.end()
        if self.hold is not None:
            await self.hold.release()
        if self._dispatch is not None:
            dispatch, self._dispatch = self._dispatch, None
            await in_thread(dispatch.end)
        await self.pool.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _reached(self, answer: Awaitable[T]) -> T:
        try:
            return await answer
        except database_errors() as error:
            raise Unreachable(
                f"the database {shown_url(self.url)} does not answer ({database_error(error)})"
            ) from error
