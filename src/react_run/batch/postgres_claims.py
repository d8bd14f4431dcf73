"""What happens to one row in PostgreSQL: it is claimed, and then finished or returned to the queue."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from react_run.batch.engine import LEASE, Claim
from react_run.batch.ledger import DONE, WAITS, spent
from react_run.batch.postgres_rows import OF_ONE, totals
from react_run.batch.rows import Row, RowResult
from react_run.journal.shipped import TAKE

_FOUND = """
select place, payload, run, attempts, failures, state, state = 1 and owner <> %(worker)s and exists (
    select from react_run.workers
    where executor = owner and beat >= clock_timestamp() - %(lease)s * interval '1 second')
from react_run.rows where batch = %(batch)s and position = %(position)s for update
"""
"""A row, and whether another worker that is alive has it."""
_LOCK = "select from react_run.batches where id = %s for update"
_CLAIM = f"""
with taken as ({TAKE})
update react_run.rows set state = 1, owner = %(owner)s, epoch = taken.epoch, attempts = attempts + 1
from taken where batch = %(batch)s and position = %(position)s
returning rows.epoch
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
_ADMIT = """
update react_run.batches
set next_request = greatest(next_request, extract(epoch from clock_timestamp())) + 60 / rate
where rate is not null and id = %s
returning (next_request - 60 / rate - extract(epoch from clock_timestamp()))::float8
"""


class Decision(Enum):
    """Why a row was not claimed."""

    OVER = "it has its result, or was removed"
    LATER = "another worker has it, or rows may not start now"


class Claimed(NamedTuple):
    """A claim, and whether its batch has a rate limit."""

    claim: Claim
    is_paced: bool


async def claim_row(connection: Any, worker: str, batch: str, position: int) -> Claimed | Decision:
    """Claim a row for a worker.

    Not as a pipeline, which would save round trips: the database ends the transaction of a suspended process, and so
    releases its locks, only while it waits for a statement, not in the middle of a pipeline.
    """
    which = {"worker": worker, "owner": worker, "lease": LEASE, "batch": batch, "position": position}
    async with connection.transaction():
        asked = await connection.execute(OF_ONE, (batch,))
        looked = await connection.execute(_FOUND, which)
        (one,), found = await totals(asked) or (None,), await looked.fetchone()
        if one is not None and one.max_cost is not None:  # one claim after the other keeps the limit
            await connection.execute(_LOCK, (batch,))  # what is counted next includes the claims waited for
            (one,) = await totals(await connection.execute(OF_ONE, (batch,))) or (None,)
        if one is None or found is None or found[5] == DONE:
            return Decision.OVER
        place, payload, run, attempts, failures, state, others = found
        # One that slept beyond its lease wakes with offers that went to others meanwhile: it leaves them theirs.
        if one.stopped or others or (state == WAITS and not one.affordable(1)):
            return Decision.LATER
        claimed = await connection.execute(_CLAIM, {**which, "run": run})
    (epoch,) = await claimed.fetchone()
    row = Row.from_payload(position, payload, place)
    claim = Claim(row=row, run_id=run, epoch=int(epoch), attempts=attempts + 1, failures=failures)
    return Claimed(claim, one.rate is not None)


async def store_result(connection: Any, batch: str, epoch: int, result: RowResult) -> bool:
    """Store a result if the claim still holds; storing it again, because the answer got lost, is no mistake."""
    cost, unpriced = spent(result)
    values = {
        "batch": batch,
        "position": result.index,
        "epoch": epoch,
        "status": result.status,
        "line": result.line(),
        "cost": cost,
        "unpriced": unpriced,
    }
    if (await connection.execute(_FINISH, values)).rowcount == 1:
        return True
    return bool((await connection.execute(_IS_FINISHED, values)).rowcount == 1)


async def mark_waiting(connection: Any, batch: str, position: int, epoch: int, failed: bool) -> bool:
    """Let a row be claimed again, if the claim still holds."""
    which = (batch, position, epoch)
    if (await connection.execute(_GIVE_BACK, (int(failed), *which))).rowcount == 1:
        return True
    return bool((await connection.execute(_IS_GIVEN_BACK, which)).rowcount == 1)  # it was, and the answer got lost


async def count_request(connection: Any, batch: str) -> float:
    """Count a model request, and return the seconds to wait for the rate limit."""
    found = await (await connection.execute(_ADMIT, (batch,))).fetchone()
    return 0.0 if found is None else max(0.0, float(found[0]))
