"""What every queue keeps of rows, and what follows from what it has counted: the rules, without the SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from react_run.batch.engine import Progress
from react_run.batch.rows import Row, RowResult
from react_run.errors import ConfigError

WAITS, AT_WORK, DONE = 0, 1, 2
"""The states of a row."""
KEPT = ("position", "digest", "id", "place", "payload")
"""The columns that a new row fills."""
COUNTED = "total, ok, unsuccessful, error, cost, unpriced"
"""The columns of a batch that are counted, in the order of :class:`Totals`."""
_A_CENT_OF_A_CENT = 1e-9
"""What sums of fractions may be off by."""


def portions(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """Rows in lists of ``size``, as they are read."""
    left = iter(rows)
    while some := list(islice(left, size)):
        yield some


def values_of(row: Row) -> tuple[int, str, str | None, str, str]:
    """What is kept of a new row, in the order of :data:`KEPT`."""
    name = None if row.id is None else _kept(row.id)
    return row.index, row.digest, name, _kept(row.place), row.payload


def result_of_problem(row: Row) -> RowResult:
    """The result of a row that cannot run, which it has from the beginning."""
    return RowResult(index=row.index, id=row.id, error=row.problem)


def _kept(text: str) -> str:
    """A text as any database takes it: without NUL and halves of surrogate pairs, as file names may have them."""
    if text.isascii() and "\0" not in text:
        return text
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


@dataclass(frozen=True, kw_only=True)
class Sorted:
    """Rows of the input beside those that are kept.

    Args:
        new: To be added, those that are mended included.
        mended: Their positions hold a row that could not be run.
    """

    new: Sequence[Row]
    mended: Sequence[Row]

    @property
    def more(self) -> int:
        """How many rows there are more than before."""
        return len(self.new) - len(self.mended)

    @property
    def more_bad(self) -> int:
        """How many rows more cannot be run."""
        return len([row for row in self.new if row.problem]) - len(self.mended)


def beside(rows: Sequence[Row], known: Mapping[int, tuple[str, bool]]) -> Sorted:
    """Tell new rows from known ones.

    Args:
        rows: Of the input.
        known: By position: the digest of what is kept, and whether it could not be run and may be mended.

    Raises:
        ConfigError: A row is not what it was, and not because it was mended.
    """
    if not known:
        return Sorted(new=rows, mended=())
    changed = [row for row in rows if row.index in known and known[row.index][0] != row.digest]
    for row in changed:
        if not known[row.index][1]:
            raise ConfigError(
                f"{row.place}: row {row.index + 1} is not what it was when the batch was begun; put it back, or start "
                "anew with --fresh"
            )
    return Sorted(new=[row for row in rows if row.index not in known] + changed, mended=changed)


def ids_of(rows: Iterable[Row]) -> Mapping[str, str]:
    """Where the rows are that have an id.

    Raises:
        ConfigError: Two have the same.
    """
    places: dict[str, str] = {}
    for row in rows:
        if row.id is not None:
            must_be_new(name := _kept(row.id), row.place, places.get(name))
            places[name] = row.place
    return places


def must_be_new(id_: str, place: str, other: str | None) -> None:
    """Refuse an id that the row at another place has.

    Raises:
        ConfigError: There is such a row.
    """
    if other is not None:
        raise ConfigError(f"{place}: the id {id_!r} is that of {other}, too")


def spent(result: RowResult) -> tuple[float, int]:
    """What a result adds to the cost, and whether that is unknown."""
    return result.cost or 0.0, int(result.cost is None and result.usage is not None)


@dataclass(frozen=True)
class Totals:
    """What is counted in a batch, and the terms that hold for it."""

    total: int
    ok: int
    unsuccessful: int
    error: int
    cost: float
    unpriced: int
    running: int
    stopped: bool
    max_cost: float | None
    reserve: float
    rate: float | None

    def affordable(self, n: int, *, running: int | None = None) -> int:
        """How many of ``n`` rows may begin: each running one is counted with what it may cost at most."""
        if self.max_cost is None:
            return n
        left = self.max_cost - self.cost - self.reserve * (self.running if running is None else running)
        if self.unpriced or left <= 0 or left + _A_CENT_OF_A_CENT < self.reserve:
            return 0
        return n if not self.reserve else min(n, int(left / self.reserve + _A_CENT_OF_A_CENT))

    @property
    def exhausted(self) -> bool:
        """Whether the limit of cost keeps rows from being begun, and would if none were at work."""
        return self.affordable(1, running=0) <= 0

    def progress(self) -> Progress:
        """How far the batch is."""
        return Progress(
            total=self.total,
            ok=self.ok,
            unsuccessful=self.unsuccessful,
            error=self.error,
            running=self.running,
            cost=None if self.unpriced else self.cost,
            stopped=self.stopped,
            exhausted=self.exhausted,
        )


def all_together(batches: Sequence[Totals]) -> Progress:
    """How far several batches are; the limit keeps rows from being begun when it does in each that has some left."""
    parts = [batch.progress() for batch in batches]
    unfinished = [part for part in parts if part.done < part.total]
    return Progress(
        total=sum(part.total for part in parts),
        ok=sum(part.ok for part in parts),
        unsuccessful=sum(part.unsuccessful for part in parts),
        error=sum(part.error for part in parts),
        running=sum(part.running for part in parts),
        cost=sum(batch.cost for batch in batches) if all(part.cost is not None for part in parts) else None,
        exhausted=bool(unfinished) and all(part.exhausted for part in unfinished),
    )
