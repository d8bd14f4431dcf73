"""The engine for many machines: rows, results and limits in PostgreSQL, handed out by DBOS.

Each row is a workflow in a queue of DBOS. The workflow has no steps: it passes the row to the worker of its process,
and waits until the row has its result. The journal is the execution, and DBOS never sees what a run does.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from react_run.batch.dispatch import Dispatch, enqueue, workflow_id
from react_run.batch.engine import Beat, Claim, OpenRun, Progress, Terms, Unreachable
from react_run.batch.hold import Hold
from react_run.batch.ledger import Totals, all_together, portions
from react_run.batch.liveness import Liveness, exchange_pauses
from react_run.batch.offers import Key, Offers
from react_run.batch.postgres_claims import Decision, claim_row, count_request, mark_waiting, store_result
from react_run.batch.postgres_rows import OF_ONE, OF_VERSION, added, results_from, set_terms, stop, taken_anew, totals
from react_run.batch.rows import Row, RowResult
from react_run.errors import ConfigError
from react_run.journal.postgres import connect, database_error, database_errors, shown_url
from react_run.journal.shipped import Journals, ShippedSink
from react_run.support.threads import in_thread

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

T = TypeVar("T")
_AT_ONCE = 1_000


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
        left = self._offers.waiting
        while left and len(claims) < n:
            keys = [self._offers.take() for _ in range(min(left, n - len(claims)))]
            left -= len(keys)
            try:
                found = await asyncio.gather(*(self._claim(worker, key) for key in keys), return_exceptions=True)
            except BaseException:
                found = [None] * len(keys)
                self._offers.put_back(keys)
                raise
            failed = [key for key, outcome in zip(keys, found, strict=True) if isinstance(outcome, BaseException)]
            self._offers.put_back(failed)
            claims += [outcome for outcome in found if isinstance(outcome, Claim)]
            if failed:
                if not claims:
                    raise next(outcome for outcome in found if isinstance(outcome, BaseException))
                break
        return claims

    async def _claim(self, worker: str, key: Key) -> Claim | None:
        claimed = await self._reached(self._with(claim_row, worker, key[0], key[1]))
        if claimed is Decision.OVER:
            self._offers.over(key)
        elif claimed is Decision.LATER:
            self._offers.wait(key)
        if isinstance(claimed, Decision):
            return None
        claim = claimed.claim
        self._keys[claim.run_id, claim.epoch] = key
        if claimed.is_paced:
            self._paced[claim.run_id] = key[0]
        return claim

    async def admit(self, run_id: str) -> float:
        batch = self._paced.get(run_id)
        return 0.0 if batch is None else await self._reached(self._with(count_request, batch))

    async def open(self, claim: Claim) -> OpenRun:
        sink = await self.journals.open(claim.run_id, claim.epoch)
        self._sinks[self._keys[claim.run_id, claim.epoch], claim.epoch] = sink
        return OpenRun(path=sink.path, sink=sink)

    async def finish(self, claim: Claim, result: RowResult) -> bool:
        from react_run.errors import JournalError
        from react_run.journal.shipping import JournalFenced

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
        kept = await self._reached(self._with(store_result, key[0], claim.epoch, result))
        self._let_go(claim)
        if kept:
            self._offers.over(key)
        else:
            self._offers.lost(key)
        return kept

    async def give_back(self, claim: Claim, after: float) -> None:
        key = self._keys[claim.run_id, claim.epoch]
        sink = self._sinks.get((key, claim.epoch))
        if sink is not None:
            with suppress(Exception):  # what could not be shipped is done again
                await asyncio.wait_for(sink.sync(), 2)
        ours = await self._reached(self._with(mark_waiting, key[0], key[1], claim.epoch, after > 0))
        self._let_go(claim)
        if ours:
            self._timers.add(asyncio.get_running_loop().call_later(after, self._offers.wait, key))
        else:
            self._offers.lost(key)

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
            query, which = (OF_VERSION, self.version) if self.batch is None else (OF_ONE, self.batch.id)
            async with self.pool.connection() as connection:
                return await totals(await connection.execute(query, (which,)))

        found = await self._reached(asked())
        if self.batch is None:
            return all_together(found)
        if not found:
            raise ConfigError("the batch was removed")
        return found[0].progress()

    async def results(self, start: int, n: int) -> Sequence[RowResult]:
        if self.hold is not None:
            self.hold.check()
        return await self._reached(self._with(results_from, self._one, start, n))

    async def cancel(self) -> None:
        await self._reached(self._with(stop, self._one))

    async def set_terms(self, terms: Terms) -> None:
        """Set the limits for all workers; the batch is no longer stopped."""
        await self._reached(self._with(set_terms, self._one, terms))

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

    async def _with(self, do: Callable[..., Awaitable[T]], *arguments: object) -> T:
        async with self.pool.connection() as connection:
            return await do(connection, *arguments)

    async def _reached(self, answer: Awaitable[T]) -> T:
        try:
            return await answer
        except database_errors() as error:
            raise Unreachable(
                f"the database {shown_url(self.url)} does not answer ({database_error(error)})"
            ) from error
