"""The rows of a batch in SQLite: added, claimed, finished, counted. Callers hold the transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from react_run.batch.ledger import (
    COUNTED,
    KEPT,
    Totals,
    beside,
    ids_of,
    must_be_new,
    result_of_problem,
    spent,
    values_of,
)
from react_run.batch.rows import Row, RowResult

_KNOWN = "select position, digest, status = 'error' and attempts = 0 from rows where position between ? and ?"
_INSERT = f"insert into rows ({', '.join(KEPT)}) values ({', '.join('?' * len(KEPT))})"
_INDEX = "create index if not exists waiting on rows (position) where state = 0"
_FOUND = "select position, digest, place, payload, epoch, attempts, failures from rows where state ="
_CLAIM = "update rows set state = 1, owner = ?, epoch = epoch + 1, attempts = attempts + 1 where position = ?"
_FINISH = """
update rows set state = 2, owner = null, status = ?, result = ? where position = ? and epoch = ? and state = 1
"""
_COUNT = {
    status: f"update totals set {status} = {status} + 1, cost = cost + ?, unpriced = unpriced + ?"
    for status in ("ok", "unsuccessful", "error")
}
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
_ADMIT = "update totals set next_request = max(next_request, ?) + ? returning next_request"
_PAUSE = "insert into pauses values (?1, ?2) on conflict do update set until = max(until, ?2)"


class Found(NamedTuple):
    """A row that may be claimed."""

    position: int
    digest: str
    place: str
    payload: str
    epoch: int
    attempts: int
    failures: int


def add_rows(db: sqlite3.Connection, rows: Sequence[Row]) -> int:
    """Add rows that are not there, and return how many were added.

    Raises:
        ConfigError: A row has changed, or two rows have the same id.
    """
    found = db.execute(_KNOWN, (rows[0].index, rows[-1].index))
    sorted_ = beside(rows, {position: (digest, bool(bad)) for position, digest, bad in found})
    db.executemany("delete from rows where position = ?", [(row.index,) for row in sorted_.mended])
    if ids := ids_of(sorted_.new):
        query = "select id, place from rows where id in (select value from json_each(?))"
        for id_, place in db.execute(query, (json.dumps(list(ids)),)):
            must_be_new(id_, ids[id_], place)
    db.executemany(_INSERT, map(values_of, sorted_.new))
    db.executemany(
        "update rows set state = 2, status = ?, result = ? where position = ?",
        [(bad.status, bad.line(), bad.index) for bad in (result_of_problem(row) for row in sorted_.new if row.problem)],
    )
    db.execute("update totals set total = total + ?, error = error + ?", (sorted_.more, sorted_.more_bad))
    return len(sorted_.new)


def make_index(db: sqlite3.Connection) -> None:
    """Create the index of waiting rows: cheaper once they are all there than with each of them."""
    db.execute(_INDEX)


def abandoned_rows(db: sqlite3.Connection, worker: str) -> list[Found]:
    """Rows at work in other processes, which may be gone."""
    return [Found(*values) for values in db.execute(f"{_FOUND} 1 and owner <> ?", (worker,))]


def waiting_rows(db: sqlite3.Connection, now: float, n: int) -> list[Found]:
    """The first ``n`` rows that wait."""
    found = db.execute(f"{_FOUND} 0 and after <= ? order by position limit ?", (now, n))
    return [Found(*values) for values in found]


def mark_claimed(db: sqlite3.Connection, worker: str, row: Found) -> None:
    """Mark a row as at work."""
    db.execute(_CLAIM, (worker, row.position))


def store_result(db: sqlite3.Connection, position: int, epoch: int, result: RowResult, line: str) -> bool:
    """Store a result, which is ``line`` as JSON, if the claim still holds."""
    if db.execute(_FINISH, (result.status, line, position, epoch)).rowcount != 1:
        return False
    db.execute(_COUNT[result.status], spent(result))
    return True


def mark_waiting(db: sqlite3.Connection, position: int, epoch: int, *, failed: bool, not_before: float) -> None:
    """Let a row be claimed again, if the claim still holds."""
    db.execute(_GIVE_BACK, (int(failed), not_before, position, epoch))


def reset_errors(db: sqlite3.Connection) -> int:
    """Let rows that ended with an error be claimed again, and return how many there are."""
    db.execute(_UNSPEND)
    return db.execute(_AGAIN).rowcount


def totals(db: sqlite3.Connection) -> Totals:
    """What is counted, and the limits."""
    terms = {key: float(value) for key, value in db.execute(_TERMS)}
    counted: list[Any] = [*db.execute(_TOTALS).fetchone(), bool(terms.get("stopped"))]
    counted += [terms.get("max_cost"), terms.get("reserve", 0.0), terms.get("rate")]
    return Totals(*counted)


def results_from(db: sqlite3.Connection, start: int, n: int) -> list[RowResult]:
    """Up to ``n`` results from position ``start`` on."""
    query = "select result from rows where position >= ? and state = 2 order by position limit ?"
    return [RowResult.from_line(line) for (line,) in db.execute(query, (start, n))]


def count_request(db: sqlite3.Connection, now: float, interval: float) -> float:
    """Count a model request, and return the seconds to wait if requests are ``interval`` seconds apart."""
    return max(0.0, float(db.execute(_ADMIT, (now, interval)).fetchone()[0]) - interval - now)


def store_pauses(db: sqlite3.Connection, until: Iterator[tuple[str, float]]) -> None:
    """Store until when models may not be called."""
    db.executemany(_PAUSE, until)


def known_pauses(db: sqlite3.Connection, now: float) -> dict[str, float]:
    """Seconds during which models may not be called."""
    return dict(db.execute("select model, until - ? from pauses where until > ?", (now, now)).fetchall())
