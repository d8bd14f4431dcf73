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
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from react_run.batch.dispatch import Dispatch, enqueue, workflow_id
from react_run.batch.engine import BEAT, LEASE, Beat, Claim, OpenRun, Progress, Terms, Unreachable
from react_run.batch.offers import Key, Offers
from react_run.batch.rows import Row, RowResult
from react_run.errors import ConfigError
from react_run.journal.shipped import Journals, ShippedSink, connect, database_errors, said, shown
from react_run.support.threads import in_thread

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

T = TypeVar("T")
_AT_ONCE = 1_000
_LOST = 10.0
"""Seconds between two looks for rows that were handed to this process and never reached it."""
_CLAIM = """
select place, payload, run, attempts, failures, state, state = 1 and owner <> %s and exists (
    select from react_run.workers where executor = owner and beat >= clock_timestamp() - %s * interval '1 second')
from react_run.rows where batch = %s and position = %s for update
"""
"""A row, and whether another worker that is alive has it."""
_ALLOWED = """
select stopped,
    rate is not null,
    max_cost is null or (unpriced = 0 and cost < max_cost and reserve * (1 + (
        select count(*) from react_run.rows where rows.batch = batches.id and state = 1)) <= max_cost - cost + 1e-9)
from react_run.batches where id = %s
"""
_LIMITED = "select 1 from react_run.batches where id = %s and max_cost is not null for update"
"""One claim after the other, where there is a limit to be kept."""
_ADMIT = """
update react_run.batches
set next_request = greatest(next_request, extract(epoch from clock_timestamp())) + 60 / rate
where rate is not null and id = %s
returning (next_request - 60 / rate - extract(epoch from clock_timestamp()))::float8
"""
_PROGRESS = """
select total, ok, unsuccessful, error, cost, unpriced, stopped,
    (select count(*) from react_run.rows where rows.batch = batches.id and state = 1),
    max_cost is not null and (unpriced > 0 or cost >= max_cost or reserve > max_cost - cost + 1e-9)
from react_run.batches where id = %s
"""
_PROGRESS_OF_ALL = """
select coalesce(sum(total), 0)::int8, coalesce(sum(ok), 0)::int8, coalesce(sum(unsuccessful), 0)::int8,
    coalesce(sum(error), 0)::int8, coalesce(sum(cost), 0), coalesce(sum(unpriced), 0)::int8, false,
    coalesce(sum((select count(*) from react_run.rows where rows.batch = batches.id and state = 1)), 0)::int8,
    coalesce(bool_and(max_cost is not null and (unpriced > 0 or cost >= max_cost or reserve > max_cost - cost + 1e-9)
        ) filter (where total > ok + unsuccessful + error), false)
from react_run.batches
where not stopped and right(%s, 16) = left(encode(sha256(convert_to(agent, 'UTF8')), 'hex'), 16)
"""
"""The batches of one version, which ends in a digest of their agent."""


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
        self._signs: asyncio.Task[None] | None = None
        """Of life, until the worker gives its own."""
        self.enqueue = enqueue
        self._looked = monotonic()
        self._timers: set[asyncio.TimerHandle] = set()

    async def begin(self, worker: str) -> None:
        """Begin to be handed rows.

        Raises:
            ConfigError: The database cannot be reached, or refuses.
        """
        await self.reach()
        await self._say_alive(worker)
        self._signs = asyncio.create_task(self._stay_alive(worker))
        queue = None if self.batch is None else self.batch.id
        self._dispatch = Dispatch(self.url, worker, self.version, self._offers.add, queue=queue)
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
            raise ConfigError(f"cannot reach the database {shown(self.url)}: {said(error)}") from error

    # -- the verbs --------------------------------------------------------------------------------------------------

    async def add(self, rows: Iterable[Row]) -> int:
        left, added = iter(rows), 0
        assert self.batch is not None  # rows are added by those who began a batch
        assert self._dispatch is not None  # as above
        await in_thread(lambda: self._dispatch.queue_for(self.batch.id, self.jobs))  # type: ignore[union-attr]  # as above
        while some := list(islice(left, _AT_ONCE)):
            added += await self._reached(self._add(some))
        return added

    async def _add(self, rows: Sequence[Row]) -> int:
        assert self.batch is not None  # see add()
        batch = self.batch.id
        async with self.pool.connection() as connection, connection.transaction():
            found = await connection.execute(
                "select position, digest from react_run.rows where batch = %s and position between %s and %s",
                (batch, rows[0].index, rows[-1].index),
            )
            known: dict[Any, Any] = dict(await found.fetchall())
            for row in rows:
                if known.get(row.index, row.digest) != row.digest and not await self._mended(connection, row):
                    raise ConfigError(
                        f"{row.place}: row {row.index + 1} is not what it was when the batch was begun; put it back, "
                        "or start anew with --fresh"
                    )
                if known.get(row.index, row.digest) != row.digest:
                    known.pop(row.index)
            new = [row for row in rows if row.index not in known]
            await self._insert(connection, new)
            await self.enqueue(connection, self.version, batch, [row.index for row in new])
        return len(new)

    async def _mended(self, connection: Any, row: Row) -> bool:
        found = await connection.execute(
            "delete from react_run.rows where batch = %s and position = %s and status = 'error' and attempts = 0",
            (self.batch.id if self.batch else "", row.index),
        )
        if found.rowcount:
            await connection.execute(
                "update react_run.batches set total = total - 1, error = error - 1 where id = %s",
                (self.batch.id if self.batch else "",),
            )
        return bool(found.rowcount)

    async def _insert(self, connection: Any, new: Sequence[Row]) -> None:
        from psycopg.errors import UniqueViolation

        assert self.batch is not None  # see add()
        batch, bad = self.batch.id, 0
        values = []
        for row in new:
            result = RowResult(index=row.index, id=row.id, error=row.problem) if row.problem else None
            bad += result is not None
            line, status = (result.line(), result.status) if result else (None, None)
            name = None if row.id is None else row.id.replace("\0", "")
            run = row.run_id(batch)
            values.append(
                (
                    batch,
                    row.index,
                    row.digest,
                    name,
                    row.place,
                    row.payload,
                    2 if bad and result else 0,
                    run,
                    status,
                    line,
                )
            )
        names = "batch, position, digest, id, place, payload, state, run, status, result"
        try:
            async with connection.cursor() as cursor:
                await cursor.executemany(
                    f"insert into react_run.rows ({names}) values ({', '.join(['%s'] * 10)})", values
                )
        except UniqueViolation as error:
            raise ConfigError(f"two rows have the same id: {(error.diag.message_detail or '').strip()}") from None
        await connection.execute(
            "update react_run.batches set total = total + %s, error = error + %s where id = %s", (len(new), bad, batch)
        )

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
            await connection.execute(_LIMITED, (batch,))
            allowed = await (await connection.execute(_ALLOWED, (batch,))).fetchone()
            found = await (await connection.execute(_CLAIM, (worker, LEASE, batch, position))).fetchone()
            if allowed is None or found is None or found[5] == 2:  # removed, or it has its result
                self._offers.over(key)
                return None
            stopped, paced, affordable = allowed
            place, payload, run, attempts, failures, state, others = found
            # One that slept beyond its lease wakes with offers that went to others meanwhile: it leaves them theirs.
            if stopped or others or (state == 0 and not affordable):
                self._offers.wait(key)
                return None
            epoch = await self.journals.take(connection, run, worker)
            await connection.execute(
                "update react_run.rows set state = 1, owner = %s, epoch = %s, attempts = attempts + 1 "
                "where batch = %s and position = %s",
                (worker, epoch, batch, position),
            )
        self._keys[run, epoch] = key
        if paced:
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
        batch, position, _ = key
        async with self.pool.connection() as connection, connection.transaction():
            line = result.line()
            changed = await connection.execute(
                "update react_run.rows set state = 2, owner = null, status = %s, result = %s "
                "where batch = %s and position = %s and epoch = %s and state = 1",
                (result.status, line, batch, position, claim.epoch),
            )
            if changed.rowcount != 1:
                found = await connection.execute(
                    "select 1 from react_run.rows where batch = %s and position = %s and epoch = %s and result = %s",
                    (batch, position, claim.epoch, line),
                )
                return await found.fetchone() is not None  # it was kept, and the answer got lost
            unpriced = int(result.cost is None and result.usage is not None)
            await connection.execute(
                f"update react_run.batches set {result.status} = {result.status} + 1, cost = cost + %s, "
                "unpriced = unpriced + %s where id = %s",
                (result.cost or 0.0, unpriced, batch),
            )
            return True

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
        async with self.pool.connection() as connection:
            changed = await connection.execute(
                "update react_run.rows set state = 0, owner = null, failures = failures + %s "
                "where batch = %s and position = %s and epoch = %s and state = 1",
                (int(after > 0), key[0], key[1], claim.epoch),
            )
            if changed.rowcount == 1:
                return True
            found = await connection.execute(  # it was given back, and the answer got lost
                "select 1 from react_run.rows where batch = %s and position = %s and epoch = %s and state = 0",
                (key[0], key[1], claim.epoch),
            )
            return await found.fetchone() is not None

    def _let_go(self, claim: Claim) -> Key:
        key = self._keys.pop((claim.run_id, claim.epoch))
        self._paced.pop(claim.run_id, None)
        if (sink := self._sinks.pop((key, claim.epoch), None)) is not None:
            sink.close()
        return key

    async def beat(self, worker: str, pauses: Mapping[str, float]) -> Beat:
        self._rest()
        return await self._reached(self._beat(worker, pauses))

    async def _beat(self, worker: str, pauses: Mapping[str, float]) -> Beat:
        async with self.pool.connection() as connection:
            for model, seconds in pauses.items():
                await connection.execute(
                    "insert into react_run.pauses values (%s, clock_timestamp() + %s * interval '1 second') "
                    "on conflict (model) do update set until = greatest(pauses.until, excluded.until)",
                    (model, seconds),
                )
            found = await connection.execute(
                "select model, extract(epoch from until - clock_timestamp())::float8 from react_run.pauses "
                "where until > clock_timestamp()"
            )
            known: dict[Any, Any] = dict(await found.fetchall())
        await self._say_alive(worker)
        await self._reap()
        await self._look_for_lost()
        return Beat(stopped=False, pauses=known)

    async def _stay_alive(self, worker: str) -> None:
        """Give signs of life while DBOS starts and rows are added: a worker that holds rows must not pass for gone."""
        while True:
            await asyncio.sleep(BEAT)
            with suppress(*database_errors()):
                await self._say_alive(worker)

    def _rest(self) -> None:
        if self._signs is not None:
            self._signs.cancel()
            self._signs = None

    async def _say_alive(self, worker: str) -> None:
        async with self.pool.connection() as connection:
            await connection.execute(
                "insert into react_run.workers values (%s, clock_timestamp()) "
                "on conflict (executor) do update set beat = excluded.beat",
                (worker,),
            )

    async def _reap(self) -> None:
        """Have the rows of workers that were silent for three beats handed out again: one worker does it at a time."""
        if self._dispatch is None:
            return
        dispatch = self._dispatch
        async with self.pool.connection() as connection, connection.transaction():
            (mine,) = await (
                await connection.execute("select pg_try_advisory_xact_lock(hashtext('react_run.reaper'))")
            ).fetchone() or (False,)
            if not mine:
                return
            found = await connection.execute(
                "select executor from react_run.workers "
                "where beat < clock_timestamp() - %s * interval '1 second' for update skip locked",
                (LEASE,),
            )
            silent = [executor for (executor,) in await found.fetchall()]
            if silent:
                await in_thread(lambda: dispatch.hand_out_again(silent))
                await connection.execute("delete from react_run.workers where executor = any(%s)", (silent,))

    async def _look_for_lost(self) -> None:
        dispatch, now = self._dispatch, monotonic()
        if dispatch is not None and now - self._looked >= _LOST:
            self._looked = now
            await in_thread(lambda: dispatch.hand_out_lost(self._known))

    def _known(self) -> set[str]:
        return {workflow_id(key) for key in self._offers.keys}

    async def progress(self) -> Progress:
        query, what = (_PROGRESS_OF_ALL, self.version) if self.batch is None else (_PROGRESS, self.batch.id)

        async def asked() -> Progress:
            async with self.pool.connection() as connection:
                found = await (await connection.execute(query, (what,))).fetchone()
            if found is None:
                raise ConfigError("the batch was removed")
            total, ok, unsuccessful, error, cost, unpriced, stopped, running, exhausted = found
            return Progress(
                total=total,
                ok=ok,
                unsuccessful=unsuccessful,
                error=error,
                running=running,
                cost=None if unpriced else cost,
                stopped=stopped,
                exhausted=exhausted,
            )

        return await self._reached(asked())

    async def results(self, start: int, n: int) -> Sequence[RowResult]:
        async def asked() -> Sequence[RowResult]:
            async with self.pool.connection() as connection:
                found = await connection.execute(
                    "select result from react_run.rows where batch = %s and position >= %s and state = 2 "
                    "order by position limit %s",
                    (self.batch.id if self.batch else "", start, n),
                )
                return [RowResult.from_line(line) for (line,) in await found.fetchall()]

        return await self._reached(asked())

    async def cancel(self) -> None:
        await self.set_terms(stopped=True)

    async def set_terms(self, terms: Terms | None = None, *, stopped: bool = False) -> None:
        """What holds for all workers from now on."""

        async def said_() -> None:
            async with self.pool.connection() as connection:
                batch = self.batch.id if self.batch else ""
                await connection.execute("update react_run.batches set stopped = %s where id = %s", (stopped, batch))
                if terms is not None:
                    await connection.execute(
                        "update react_run.batches set max_cost = %s, reserve = %s, rate = %s where id = %s",
                        (terms.max_cost, terms.reserve, terms.rate, batch),
                    )

        await self._reached(said_())

    async def retry_errors(self) -> int:
        """Have rows that ended with an error go on from their journals; how many."""
        batch = self.batch.id if self.batch else ""

        async def again() -> int:
            async with self.pool.connection() as connection, connection.transaction():
                await connection.execute(
                    "update react_run.batches set "
                    "cost = cost - coalesce((select sum((result::json ->> 'cost')::float8) from react_run.rows "
                    "where batch = id and status = 'error' and attempts > 0), 0), "
                    "unpriced = unpriced - (select count(*) from react_run.rows where batch = batches.id "
                    "and status = 'error' and attempts > 0 and result::json ->> 'usage' is not null "
                    "and result::json ->> 'cost' is null) where id = %s",
                    (batch,),
                )
                found = await connection.execute(
                    "update react_run.rows set state = 0, status = null, result = null, failures = 0, "
                    "generation = generation + 1 where batch = %s and status = 'error' and attempts > 0 "
                    "returning position",
                    (batch,),
                )
                positions = [position for (position,) in await found.fetchall()]
                await connection.execute(
                    "update react_run.batches set error = error - %s where id = %s", (len(positions), batch)
                )
                await self.enqueue(connection, self.version, batch, positions)
                return len(positions)

        return await self._reached(again())

    async def close(self) -> None:
        self._rest()
        for timer in self._timers:
            timer.cancel()
        for sink in self._sinks.values():
            sink.close()
        self._sinks.clear()
        self._offers.clear()  # not answered: rows that are not done must not pass for done
        if self._dispatch is not None:
            dispatch, self._dispatch = self._dispatch, None
            with suppress(Exception):
                async with self.pool.connection(timeout=1) as connection:  # its rows are handed out again at once
                    await connection.execute(
                        "update react_run.workers set beat = '-infinity' where executor = %s", (dispatch.executor,)
                    )
            await in_thread(dispatch.end)
        await self.pool.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _reached(self, answer: Awaitable[T]) -> T:
        try:
            return await answer
        except database_errors() as error:
            raise Unreachable(f"the database {shown(self.url)} does not answer ({said(error)})") from error
