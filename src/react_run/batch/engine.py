"""The interface of engines, which hand out the rows of a batch: a queue with leases. It never sees model calls or tool
calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from react_run.batch.rows import Row, RowResult
from react_run.errors import ReactError

if TYPE_CHECKING:
    from react_run.journal.sinks import Sink

BEAT = 1.0
"""Seconds between two heartbeats of a worker."""
LEASE = 3 * BEAT
"""Seconds without a heartbeat after which others take over a worker's rows."""


class EngineError(ReactError):
    """The queue cannot be used: its database is gone, damaged or full."""


class Unreachable(EngineError):
    """The queue cannot be reached at the moment; it may be back soon."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A row that a worker may run until another worker claims it.

    Args:
        row: The row.
        run_id: The id of its run, the same in every attempt.
        epoch: Increases with every claim of the row: later reports of an earlier claim do not count. attempts: How
            often the row was claimed, including this time. failures: How often it was returned because of a failure.
    """

    row: Row
    run_id: str
    epoch: int
    attempts: int = 1
    failures: int = 0


@dataclass(frozen=True, kw_only=True)
class OpenRun:
    """The journal of a claimed row: a file to read, and the destination of new records."""

    path: Path
    sink: Sink


@dataclass(frozen=True, kw_only=True)
class Beat:
    """The answer to a heartbeat.

    Args:
        stopped: Whether to stop starting rows.
        pauses: Seconds during which models may not be called, by name.
    """

    stopped: bool = False
    pauses: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of a batch. ``cost`` is ``None`` if the cost of a row is unknown."""

    total: int = 0
    ok: int = 0
    unsuccessful: int = 0
    error: int = 0
    running: int = 0
    cost: float | None = 0.0
    stopped: bool = False
    exhausted: bool = False
    """Whether the cost limit prevents rows from starting."""

    @property
    def done(self) -> int:
        """The number of rows with a result."""
        return self.ok + self.unsuccessful + self.error

    @property
    def left(self) -> int:
        """The number of rows that have no result and are not running."""
        return self.total - self.done - self.running

    def state(self, *, at_work: bool) -> str:
        """The state of a batch: ``at work``, ``finished``, ``stopped``, ``at its limit`` or ``interrupted``."""
        if at_work:
            return "at work"
        if self.done == self.total:
            return "finished"
        return "stopped" if self.stopped else "at its limit" if self.exhausted else "interrupted"


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Limits for all workers of a batch.

    Args:
        max_cost: Maximum cost of all rows together, in USD.
        reserve: USD that a running row may still cost.
        rate: Model requests per minute.
    """

    max_cost: float | None = None
    reserve: float = 0.0
    rate: float | None = None


class Engine(Protocol):
    """The rows of one batch, for any number of workers.

    Five verbs make a queue: :meth:`add`, :meth:`take`, :meth:`beat`, :meth:`finish`, :meth:`give_back`. Whatever
    happens to workers, each row is finished exactly once: of two claims of a row, only the later one counts.

    Every method may raise :class:`EngineError`.
    """

    async def begin(self, worker: str) -> None:
        """Called once before everything else, with this process's worker name."""

    async def add(self, rows: Iterable[Row]) -> int:
        """Append rows, and return how many were added. A row that is already at its position is not added again."""

    async def take(self, worker: str, n: int) -> Sequence[Claim]:
        """Claim up to ``n`` rows: unstarted ones in order, and those whose worker is gone."""

    async def beat(self, worker: str, pauses: Mapping[str, float]) -> Beat:
        """Send a heartbeat, with delays that providers requested: seconds not to call a model, by name."""

    async def admit(self, run_id: str) -> float:
        """Count a model request of a claimed row, and return the seconds to wait for the batch's rate limit."""

    async def finish(self, claim: Claim, result: RowResult) -> bool:
        """Store the result of a row; ``False`` if the claim is no longer valid, and nothing was stored."""

    async def give_back(self, claim: Claim, after: float) -> None:
        """Return the row to the queue, to be claimed again after at least ``after`` seconds; its journal stays."""

    async def open(self, claim: Claim) -> OpenRun:
        """Open the journal of a claimed row.

        Raises:
            JournalBusy: Another process is using it. JournalError: It cannot be opened.
        """

    async def progress(self) -> Progress:
        """The progress of the batch."""

    async def results(self, start: int, n: int) -> Sequence[RowResult]:
        """Up to ``n`` results of rows from position ``start`` on, in order; rows without a result are left out."""

    async def cancel(self) -> None:
        """Stop starting rows; rows in progress finish."""

    async def close(self) -> None:
        """Release the engine's resources."""
