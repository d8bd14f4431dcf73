"""What hands out the rows of a batch: a queue with leases. It never sees a model call or a tool call."""

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
"""Seconds between two signs of life of a worker."""
LEASE = 3 * BEAT
"""Seconds of silence after which the rows of a worker go to others."""


class EngineError(ReactError):
    """The queue cannot be used: its database is gone, damaged or full."""


class Unreachable(EngineError):
    """The queue cannot be reached now; it may be back in a moment."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A row that a worker may run, until somebody else claims it.

    Args:
        row: The row.
        run_id: The id of its run, the same in every attempt.
        epoch: Grows with every claim of the row: what an earlier claim says later does not count.
        attempts: How often the row was claimed, this time included.
        failures: How often it was given back because of a failure.
    """

    row: Row
    run_id: str
    epoch: int
    attempts: int = 1
    failures: int = 0


@dataclass(frozen=True, kw_only=True)
class OpenRun:
    """The journal of a claimed row: a file to read, and where new records go."""

    path: Path
    sink: Sink


@dataclass(frozen=True, kw_only=True)
class Beat:
    """What a worker learns when it says that it is alive.

    Args:
        stopped: Whether no more rows are to be begun.
        pauses: Seconds that nobody may call a model, by its name.
    """

    stopped: bool = False
    pauses: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a batch is. ``cost`` is ``None`` when that of a row is unknown."""

    total: int = 0
    ok: int = 0
    unsuccessful: int = 0
    error: int = 0
    running: int = 0
    cost: float | None = 0.0
    stopped: bool = False
    exhausted: bool = False
    """Whether the limit of cost keeps rows from being begun."""

    @property
    def done(self) -> int:
        """Rows that have their result."""
        return self.ok + self.unsuccessful + self.error

    @property
    def left(self) -> int:
        """Rows that have no result and are not at work."""
        return self.total - self.done - self.running

    def state(self, *, at_work: bool) -> str:
        """How a batch stands: ``at work``, ``finished``, ``stopped``, ``at its limit`` or ``interrupted``."""
        if at_work:
            return "at work"
        if self.done == self.total:
            return "finished"
        return "stopped" if self.stopped else "at its limit" if self.exhausted else "interrupted"


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What holds for all workers of a batch.

    Args:
        max_cost: USD for all rows together.
        reserve: USD that a running row may still cost.
        rate: Requests to models per minute.
    """

    max_cost: float | None = None
    reserve: float = 0.0
    rate: float | None = None


class Engine(Protocol):
    """The rows of one batch, for any number of workers.

    Five verbs make a queue: :meth:`add`, :meth:`take`, :meth:`beat`, :meth:`finish`, :meth:`give_back`. Whatever
    happens to workers, each row is finished exactly once: of two claims of a row only the later one counts.

    Every method may raise :class:`EngineError`.
    """

    async def begin(self, worker: str) -> None:
        """Called once before everything else, with the name that this process has as a worker."""

    async def add(self, rows: Iterable[Row]) -> int:
        """Put rows behind those that are there; returns how many. The same row again, at its position, is not added."""

    async def take(self, worker: str, n: int) -> Sequence[Claim]:
        """Claim up to ``n`` rows: those that were not begun, in order, and those whose worker is gone."""

    async def beat(self, worker: str, pauses: Mapping[str, float]) -> Beat:
        """Say that a worker is alive, and what it was told by providers: seconds to leave a model alone, by name."""

    async def admit(self, run_id: str) -> float:
        """Count one more request of a claimed row to a model; seconds until its batch's rate lets it be made."""

    async def finish(self, claim: Claim, result: RowResult) -> bool:
        """Keep the result of a row; ``False`` when the claim does not hold any more, and nothing was kept."""

    async def give_back(self, claim: Claim, after: float) -> None:
        """Let the row be claimed again, not before ``after`` seconds; its journal stays."""

    async def open(self, claim: Claim) -> OpenRun:
        """Open the journal of a claimed row.

        Raises:
            JournalBusy: Another process is at it.
            JournalError: It cannot be opened.
        """

    async def progress(self) -> Progress:
        """How far the batch is."""

    async def results(self, start: int, n: int) -> Sequence[RowResult]:
        """Up to ``n`` results of rows from position ``start`` on, in order; rows without a result are left out."""

    async def cancel(self) -> None:
        """Have no more rows begun; those at work go on to their end."""

    async def close(self) -> None:
        """Release what the engine holds."""
