"""The embedded engine: a table in SQLite, with locks on the journals as leases (no clock is involved)."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.resources import files
from time import time
from typing import TYPE_CHECKING, Any, TypeVar

from react_run.batch.engine import Beat, Claim, EngineError, OpenRun, Progress, Terms
from react_run.batch.home import Home
from react_run.batch.ledger import COUNTED, KEPT, Totals, beside, ids_of, must_be_new, portions, spent, values_of
from react_run.batch.rows import Row, RowResult
from react_run.errors import JournalBusy
from react_run.journal.files import FileSink
from react_run.support.threads import in_thread

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")
_PATIENCE = 60.0
"""Seconds to wait for other processes at the database."""
_AT_ONCE = 2_000
_CLAIMED = "select position, place, payload, run, epoch, attempts, failures from rows where state ="
_KNOWN = "select position, digest, status = 'error' and attempts = 0 from rows where position between ? and ?"
_INSERT = f"insert into rows ({', '.join(KEPT)}) values ({', '.join('?' * len(KEPT))})"
_FINISH = """
update rows set state = 2, owner = null, status = ?, result = ? where position = ? and epoch = ? and state = 1
"""
_GIVE_BACK = """
update rows set state = 0, owner = null, failures = failures + ?, after = ?
where position = ? and epoch = ? and state = 1
"""
_TOTALS = f"select {COUNTED}, (select count(*) from rows where state = 1) from totals"
_TERMS = "select key, value from meta where key in ('stopped', 'max_cost', 'reserve', 'rate')"
_FAILED = "from rows where status = 'error' and attempts > 0"
_UNSPEND = f"""
update totals set
    cost = cost - (select coalesce(sum(result ->> 'cost'), 0) {_FAILED}),
    unpriced = unpriced - (select count(*) {_FAILED}
        and result ->> 'usage' is not null and result ->> 'cost' is null),
    error = error - (select count(*) {_FAILED})
"""
_AGAIN = """
update rows set state = 0, status = null, result = null, failures = 0, after = 0
where status = 'error' and attempts > 0
"""
_PAUSE = "insert into pauses values (?1, ?2) on conflict do update set until = max(until, ?2)"


class SqliteEngine:
    """The queue of one batch in a file, for the processes of one machine.

    A claim is the lock on the row's journal: it is taken before the row is marked and released when the process ends,
    however it ends. So rows of a killed worker are taken at once, and rows of one that is only slow never are.

    Args:
        home: The directory of the batch.
        batch: The id of the batch, for a new one; run ids are made from it.
        terms: What holds for all workers; ``None`` leaves what was said before.

    Raises:
        ConfigError: The directory cannot be used.
        EngineError: The database is damaged.
    """

    def __init__(self, home: Home, *, batch: str = "", terms: Terms | None = None) -> None:
        self.home = home
        home.make()
        self._lock = threading.Lock()
        self._open: dict[tuple[int, int], FileSink] = {}
        self._waiting: list[tuple[Claim, RowResult, asyncio.Future[bool]]] = []
        self._flushing: asyncio.Task[None] | None = None
        self._rate: float | None = None
        """Requests per minute, as they stood when rows were taken last."""
        with _told(home):
            self._db = sqlite3.connect(home.database, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = full")
            self._make(batch)
        if terms is not None:
            self.set("max_cost", terms.max_cost)
            self.set("reserve", terms.reserve)
            self.set("rate", terms.rate)
        self.batch = str(self.get("batch"))

    def _make(self, batch: str) -> None:
        with self._transaction() as db:
            if not db.execute("select 1 from sqlite_master where name = 'meta'").fetchone():
                for statement in files(__package__).joinpath("schema.sql").read_text(encoding="utf-8").split(";"):
                    db.execute(statement)
                db.execute("insert into meta values ('batch', ?), ('version', '1')", (batch,))

    # -- the verbs --------------------------------------------------------------------------------------------------

    async def begin(self, worker: str) -> None:
        """There is nothing to prepare."""

    async def add(self, rows: Iterable[Row]) -> int:
        number = 0
        for some in portions(rows, _AT_ONCE):
            number += await in_thread(partial(self._add, some))
        return number

    def _add(self, rows: Sequence[Row]) -> int:
        with self._transaction() as db:
            found = db.execute(_KNOWN, (rows[0].index, rows[-1].index))
            sorted_ = beside(rows, {position: (digest, bool(bad)) for position, digest, bad in found})
            db.executemany("delete from rows where position = ?", [(row.index,) for row in sorted_.mended])
            if ids := ids_of(sorted_.new):
                query = "select id, place from rows where id in (select value from json_each(?))"
                for id_, place in db.execute(query, (json.dumps(list(ids)),)):
                    must_be_new(id_, ids[id_], place)
            db.executemany(_INSERT, (values_of(row, self.batch) for row in sorted_.new))
            db.execute("update totals set total = total + ?, error = error + ?", (sorted_.more, sorted_.more_bad))
            return len(sorted_.new)

    async def take(self, worker: str, n: int) -> Sequence[Claim]:
        return await in_thread(lambda: self._take(worker, n))

    def _take(self, worker: str, n: int) -> Sequence[Claim]:
        claims: list[Claim] = []
        try:
            with self._transaction(durable=False) as db:
                if self._totals(db).stopped:
                    return []
                self._claim_some(db, worker, db.execute(f"{_CLAIMED} 1 and owner <> ?", (worker,)), claims, n)
                totals, before = self._totals(db), len(claims)
                self._rate = totals.rate
                new = totals.affordable(n - before)
                waiting = db.execute(f"{_CLAIMED} 0 and after <= ? order by position limit ?", (time(), 2 * new))
                self._claim_some(db, worker, waiting, claims, before + new)
        except BaseException:
            for claim in claims:
                self._release(claim)
            raise
        return claims

    def _claim_some(
        self, db: sqlite3.Connection, worker: str, found: sqlite3.Cursor, claims: list[Claim], limit: int
    ) -> None:
        for values in found.fetchall():
            if len(claims) >= limit:
                return
            if (claim := self._claim(db, worker, values)) is not None:
                claims.append(claim)

    def _claim(self, db: sqlite3.Connection, worker: str, values: Sequence[Any]) -> Claim | None:
        position, place, payload, run, epoch, attempts, failures = values
        try:
            sink = FileSink(self.home.runs / f"{run}.jsonl", patience=0)
        except JournalBusy:  # its worker is alive
            return None
        db.execute(
            "update rows set state = 1, owner = ?, epoch = epoch + 1, attempts = attempts + 1 where position = ?",
            (worker, position),
        )
        self._open[position, epoch + 1] = sink
        row = Row.from_payload(position, payload, place)
        return Claim(row=row, run_id=run, epoch=epoch + 1, attempts=attempts + 1, failures=failures)

    def _totals(self, db: sqlite3.Connection) -> Totals:
        terms = {key: float(value) for key, value in db.execute(_TERMS)}
        counted: list[Any] = [*db.execute(_TOTALS).fetchone(), bool(terms.get("stopped"))]
        counted += [terms.get("max_cost"), terms.get("reserve", 0.0), terms.get("rate")]
        return Totals(*counted)

    async def admit(self, run_id: str) -> float:
        rate = self._rate
        return 0.0 if rate is None else await in_thread(lambda: self._admit(rate))

    def _admit(self, rate: float) -> float:
        now = time()
        with self._transaction(durable=False) as db:
            found = db.execute(
                "update totals set next_request = max(next_request, ?) + ? returning next_request", (now, 60 / rate)
            )
            return max(0.0, float(found.fetchone()[0]) - 60 / rate - now)

    async def beat(self, worker: str, pauses: Mapping[str, float]) -> Beat:
        return await in_thread(lambda: self._beat(pauses))

    def _beat(self, pauses: Mapping[str, float]) -> Beat:
        now = time()
        if pauses:
            with self._transaction(durable=False) as db:
                db.executemany(_PAUSE, [(model, now + seconds) for model, seconds in pauses.items()])
        with self._lock, _told(self.home):
            known = self._db.execute("select model, until - ? from pauses where until > ?", (now, now)).fetchall()
            return Beat(stopped=self._totals(self._db).stopped, pauses=dict(known))

    async def finish(self, claim: Claim, result: RowResult) -> bool:
        """Results that come at the same time share one transaction, and one fsync."""
        kept: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((claim, result, kept))
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.ensure_future(self._flush())
        return await kept

    async def _flush(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                kept = await in_thread(partial(self._finish, [item[:2] for item in batch]))
            except BaseException as error:
                for *_, future in batch:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (*_, future), is_kept in zip(batch, kept, strict=True):
                if not future.done():
                    future.set_result(is_kept)

    def _finish(self, results: Sequence[tuple[Claim, RowResult]]) -> list[bool]:
        kept = []
        with self._transaction() as db:
            for claim, result in results:
                values = (result.status, result.line(), claim.row.index, claim.epoch)
                kept.append(db.execute(_FINISH, values).rowcount == 1)
                if kept[-1]:
                    counted = f"{result.status} = {result.status} + 1, cost = cost + ?, unpriced = unpriced + ?"
                    db.execute(f"update totals set {counted}", spent(result))
        for claim, _ in results:
            self._release(claim)
        return kept

    async def give_back(self, claim: Claim, after: float) -> None:
        await in_thread(lambda: self._give_back(claim, after))

    def _give_back(self, claim: Claim, after: float) -> None:
        self._release(claim)
        with self._transaction(durable=False) as db:
            then = time() + after if after else 0
            db.execute(_GIVE_BACK, (int(after > 0), then, claim.row.index, claim.epoch))

    async def open(self, claim: Claim) -> OpenRun:
        sink = self._open[claim.row.index, claim.epoch]
        return OpenRun(path=sink.path, sink=sink)

    def _release(self, claim: Claim) -> None:
        if (sink := self._open.pop((claim.row.index, claim.epoch), None)) is not None:
            sink.close()

    async def progress(self) -> Progress:
        return await in_thread(self.progress_now)

    def progress_now(self) -> Progress:
        """How far the batch is."""
        with self._lock, _told(self.home):
            return self._totals(self._db).progress()

    async def results(self, start: int, n: int) -> Sequence[RowResult]:
        return await in_thread(lambda: self.results_now(start, n))

    def results_now(self, start: int, n: int) -> Sequence[RowResult]:
        """Results in order, see :meth:`Engine.results`."""
        with self._lock, _told(self.home):
            found = self._db.execute(
                "select result from rows where position >= ? and state = 2 order by position limit ?", (start, n)
            ).fetchall()
        return [RowResult.from_line(line) for (line,) in found]

    async def cancel(self) -> None:
        self.set("stopped", 1)

    async def close(self) -> None:
        if self._flushing is not None:
            await asyncio.wait((self._flushing,))
        self.close_now()

    def close_now(self) -> None:
        """Release the database and the rows that are at work."""
        with self._lock:
            while self._open:  # threads that nobody waits for any more may release theirs at the same time
                with suppress(KeyError):
                    self._open.popitem()[1].close()
            self._db.close()

    # -- what only this engine has -----------------------------------------------------------------------------------

    def get(self, key: str) -> str | None:
        """What is kept about the batch under ``key``."""
        with self._lock, _told(self.home):
            return self._meta(self._db, key)

    def set(self, key: str, value: object) -> None:
        """Keep something about the batch; ``None`` forgets it."""
        with self._transaction() as db:
            if value is None:
                db.execute("delete from meta where key = ?", (key,))
            else:
                db.execute("insert or replace into meta values (?, ?)", (key, str(value)))

    def retry_errors(self) -> int:
        """Have rows that ended with an error go on from their journals; how many."""
        with self._transaction() as db:
            db.execute(_UNSPEND)
            return db.execute(_AGAIN).rowcount

    def _meta(self, db: sqlite3.Connection, key: str) -> str | None:
        found = db.execute("select value from meta where key = ?", (key,)).fetchone()
        return None if found is None else str(found[0])

    @contextmanager
    def _transaction(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """All of it or nothing; others wait. What need not survive a crash of the machine is not synced."""
        with self._lock, _told(self.home):
            self._db.execute(f"pragma synchronous = {'full' if durable else 'normal'}")
            self._db.execute("begin immediate")
            try:
                yield self._db
                self._db.execute("commit")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("rollback")
                raise


@contextmanager
def _told(home: Home) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise EngineError(f"the queue {home.database} cannot be used: {error}") from error
