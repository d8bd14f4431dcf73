"""The embedded engine: a queue in SQLite, with locks on the journals as leases (no clock is involved)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import time

from react_run.batch.engine import Beat, Claim, OpenRun, Progress, Terms
from react_run.batch.group_commit import GroupCommit
from react_run.batch.home import Home
from react_run.batch.ledger import portions
from react_run.batch.queue_file import QueueFile
from react_run.batch.rows import Row, RowResult, run_id
from react_run.batch.sqlite_rows import (
    Found,
    abandoned_rows,
    add_rows,
    count_request,
    known_pauses,
    make_index,
    mark_claimed,
    mark_waiting,
    reset_errors,
    results_from,
    store_pauses,
    store_result,
    totals,
    waiting_rows,
)
from react_run.errors import JournalBusy, JournalError
from react_run.journal.files import FileSink
from react_run.support.threads import in_thread

_AT_ONCE = 10_000
"""Rows per transaction when rows are added."""


class SqliteEngine:
    """The queue of one batch in a file, for the processes of one machine.

    A claim is the lock on the row's journal: it is taken before the row is marked and released when the process ends,
    however it ends. So rows of a killed worker are claimed at once, and rows of a slow one never are.

    Args:
        home: The directory of the batch.
        batch: The id of a new batch; the ids of its runs are made from it.
        terms: Limits for all workers; ``None`` leaves them as they are.

    Raises:
        ConfigError: The directory cannot be used.
        EngineError: The database is damaged.
    """

    def __init__(self, home: Home, *, batch: str = "", terms: Terms | None = None) -> None:
        self.home = home
        home.make()
        self.file = QueueFile(home.database, batch)
        self.get, self.set = self.file.get, self.file.set
        self.batch = str(self.get("batch"))
        self._runs = home.runs
        self._open: dict[tuple[int, int], FileSink] = {}
        self._finishing = 0
        self._commits = GroupCommit(self.file, self._more_soon)
        self._rate: float | None = None
        """Requests per minute, when rows were last claimed."""
        if terms is not None:
            self.set("max_cost", terms.max_cost)
            self.set("reserve", terms.reserve)
            self.set("rate", terms.rate)

    def _more_soon(self, waiting: int) -> bool:
        return len(self._open) > self._finishing

    async def begin(self, worker: str) -> None:
        """There is nothing to prepare."""

    async def add(self, rows: Iterable[Row]) -> int:
        number = 0
        for some in portions(rows, _AT_ONCE):
            number += await in_thread(partial(self._add, some))
        await in_thread(self._make_index)
        return number

    def _add(self, rows: Sequence[Row]) -> int:
        with self.file.transaction() as db:
            return add_rows(db, rows)

    def _make_index(self) -> None:
        with self.file.transaction() as db:
            make_index(db)

    async def take(self, worker: str, n: int) -> Sequence[Claim]:
        claims: list[Claim] = []

        def ended(kept: bool) -> None:
            if not kept:
                for claim in claims:
                    self._release(claim)

        await self._commits.run(lambda db: self._take(db, worker, n, claims), durable=False, ended=ended)
        return claims

    def _take(self, db: sqlite3.Connection, worker: str, n: int, claims: list[Claim]) -> None:
        now = totals(db)
        self._rate = now.rate
        if now.stopped:
            return
        self._claim(db, worker, abandoned_rows(db, worker), n, claims)
        new = now.affordable(n - len(claims))
        self._claim(db, worker, waiting_rows(db, time(), 2 * new), len(claims) + new, claims)

    def _claim(
        self, db: sqlite3.Connection, worker: str, found: Sequence[Found], limit: int, claims: list[Claim]
    ) -> None:
        for row in found:
            if len(claims) >= limit:
                return
            run = run_id(self.batch, row.position, row.digest)
            try:
                sink = FileSink(self._runs / f"{run}.jsonl", patience=0)
            except JournalBusy:  # its worker is alive
                continue
            except JournalError:
                if claims:  # those count
                    return
                raise
            mark_claimed(db, worker, row)
            self._open[row.position, row.epoch + 1] = sink
            claims.append(
                Claim(
                    row=Row.from_payload(row.position, row.payload, row.place),
                    run_id=run,
                    epoch=row.epoch + 1,
                    attempts=row.attempts + 1,
                    failures=row.failures,
                )
            )

    async def admit(self, run_id: str) -> float:
        rate = self._rate
        return 0.0 if rate is None else await in_thread(lambda: self._admit(60 / rate))

    def _admit(self, interval: float) -> float:
        with self.file.transaction(durable=False) as db:
            return count_request(db, time(), interval)

    async def beat(self, worker: str, pauses: Mapping[str, float]) -> Beat:
        return await in_thread(lambda: self._beat(pauses))

    def _beat(self, pauses: Mapping[str, float]) -> Beat:
        now = time()
        if pauses:
            with self.file.transaction(durable=False) as db:
                store_pauses(db, ((model, now + seconds) for model, seconds in pauses.items()))
        with self.file.reading() as db:
            return Beat(stopped=totals(db).stopped, pauses=known_pauses(db, now))

    async def finish(self, claim: Claim, result: RowResult) -> bool:
        self._finishing += 1
        line = result.line()
        try:
            return await self._commits.run(
                lambda db: store_result(db, claim.row.index, claim.epoch, result, line),
                durable=True,
                ended=lambda kept: self._release(claim) if kept else None,
            )
        finally:
            self._finishing -= 1

    async def give_back(self, claim: Claim, after: float) -> None:
        then = time() + after if after else 0.0
        await self._commits.run(
            lambda db: mark_waiting(db, claim.row.index, claim.epoch, failed=after > 0, not_before=then),
            durable=False,
            ended=lambda kept: self._release(claim),
        )

    async def open(self, claim: Claim) -> OpenRun:
        sink = self._open[claim.row.index, claim.epoch]
        return OpenRun(path=sink.path, sink=sink)

    def _release(self, claim: Claim) -> None:
        if (sink := self._open.pop((claim.row.index, claim.epoch), None)) is not None:
            sink.close()

    async def progress(self) -> Progress:
        return await in_thread(self.progress_now)

    def progress_now(self) -> Progress:
        """The progress of the batch."""
        with self.file.reading() as db:
            return totals(db).progress()

    async def results(self, start: int, n: int) -> Sequence[RowResult]:
        return await in_thread(lambda: self.results_now(start, n))

    def results_now(self, start: int, n: int) -> Sequence[RowResult]:
        """Results in order, see :meth:`Engine.results`."""
        with self.file.reading() as db:
            return results_from(db, start, n)

    async def cancel(self) -> None:
        self.set("stopped", 1)

    def retry_errors(self) -> int:
        """Let rows that ended with an error continue from their journals, and return how many there are."""
        with self.file.transaction() as db:
            return reset_errors(db)

    async def close(self) -> None:
        await self._commits.close()
        self.close_now()

    def close_now(self) -> None:
        """Release the database and the claimed rows."""
        while self._open:  # abandoned threads may release theirs at the same time
            with suppress(KeyError):
                self._open.popitem()[1].close()
        self.file.close()
