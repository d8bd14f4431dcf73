"""The rows of a batch in PostgreSQL: added, reset after an error, counted, and their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from react_run.batch.engine import Terms
from react_run.batch.ledger import (
    COUNTED,
    DONE,
    KEPT,
    WAITS,
    Totals,
    beside,
    ids_of,
    must_be_new,
    result_of_problem,
    values_of,
)
from react_run.batch.rows import Row, RowResult
from react_run.errors import ConfigError

_KNOWN = """
select position, digest, coalesce(status = 'error' and attempts = 0, false) from react_run.rows
where batch = %s and position between %s and %s
"""
_INSERT = f"""
insert into react_run.rows (batch, run, state, status, result, {", ".join(KEPT)})
values (%s, %s, %s, %s, %s{", %s" * len(KEPT)})
"""
_FAILED = "from react_run.rows where batch = %(batch)s and status = 'error' and attempts > 0"
_UNSPEND = f"""
update react_run.batches
set cost = cost - coalesce((select sum((result::json ->> 'cost')::float8) {_FAILED}), 0),
    unpriced = unpriced - (select count(*) {_FAILED}
        and result::json ->> 'usage' is not null and result::json ->> 'cost' is null),
    error = error - (select count(*) {_FAILED})
where id = %(batch)s
"""
_AGAIN = """
update react_run.rows
set state = 0, status = null, result = null, failures = 0, generation = generation + 1
where batch = %(batch)s and status = 'error' and attempts > 0
returning position
"""
_TOTALS = f"""
select {COUNTED}, (select count(*) from react_run.rows where rows.batch = batches.id and state = 1),
    stopped, max_cost, reserve, rate
from react_run.batches where
"""
_RESULTS = """
select result from react_run.rows where batch = %s and position >= %s and state = 2 order by position limit %s
"""
_TERMS = "update react_run.batches set stopped = false, max_cost = %s, reserve = %s, rate = %s where id = %s"
OF_ONE = f"{_TOTALS} id = %s"
OF_VERSION = f"""
{_TOTALS} not stopped and right(%s, 16) = left(encode(sha256(convert_to(agent, 'UTF8')), 'hex'), 16)
"""
"""A version ends in a digest of its agent."""


async def added(connection: Any, batch: str, rows: Sequence[Row]) -> list[int]:
    """Add rows that are not there, in a transaction of ``connection``; their positions.

    Raises:
        ConfigError: A row is not what it was, or two have the same id.
    """
    from psycopg.errors import UniqueViolation

    found = await connection.execute(_KNOWN, (batch, rows[0].index, rows[-1].index))
    sorted_ = beside(rows, {position: (digest, bad) for position, digest, bad in await found.fetchall()})
    if sorted_.mended:
        positions = [row.index for row in sorted_.mended]
        await connection.execute(
            "delete from react_run.rows where batch = %s and position = any(%s)", (batch, positions)
        )
    if ids := ids_of(sorted_.new):
        found = await connection.execute(
            "select id, place from react_run.rows where batch = %s and id = any(%s)", (batch, list(ids))
        )
        for id_, place in await found.fetchall():
            must_be_new(id_, ids[id_], place)
    try:
        async with connection.cursor() as cursor:
            await cursor.executemany(_INSERT, [_values(row, batch) for row in sorted_.new])
    except UniqueViolation:
        raise ConfigError("another process adds rows to this batch: when it is done, give the command again") from None
    await connection.execute(
        "update react_run.batches set total = total + %s, error = error + %s where id = %s",
        (sorted_.more, sorted_.more_bad, batch),
    )
    return [row.index for row in sorted_.new]


def _values(row: Row, batch: str) -> tuple[object, ...]:
    bad = result_of_problem(row) if row.problem else None
    begins = (WAITS, None, None) if bad is None else (DONE, bad.status, bad.line())
    return (batch, row.run_id(batch), *begins, *values_of(row))


async def taken_anew(connection: Any, batch: str) -> list[int]:
    """Forget what rows with an error ended with, in a transaction of ``connection``; their positions."""
    await connection.execute(_UNSPEND, {"batch": batch})
    found = await connection.execute(_AGAIN, {"batch": batch})
    return [position for (position,) in await found.fetchall()]


async def totals(found: Any) -> list[Totals]:
    """What is counted in the batches that a query found."""
    return [Totals(*values) for values in await found.fetchall()]


async def results_from(connection: Any, batch: str, start: int, n: int) -> list[RowResult]:
    """Up to ``n`` results from position ``start`` on."""
    found = await connection.execute(_RESULTS, (batch, start, n))
    return [RowResult.from_line(line) for (line,) in await found.fetchall()]


async def stop(connection: Any, batch: str) -> None:
    """Let no more rows start."""
    await connection.execute("update react_run.batches set stopped = true where id = %s", (batch,))


async def set_terms(connection: Any, batch: str, terms: Terms) -> None:
    """Set the limits for all workers, and let rows start."""
    await connection.execute(_TERMS, (terms.max_cost, terms.reserve, terms.rate, batch))
