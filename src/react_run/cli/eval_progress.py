"""Progress of a running evaluation."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from react_run.cli.batch_progress import Meter, cost

if TYPE_CHECKING:
    from react_run.batch.running import Batch
    from react_run.evals.samples import Sample


class EvalMeter(Meter):
    """Shows progress on standard error: the pass rate and the cost so far."""

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self._outcomes: Counter[str] = Counter()

    def count_sample(self, sample: Sample) -> None:
        """Note that a sample was written."""
        self._outcomes[sample.outcome] += 1
        self.count_seconds(sample.seconds)

    def text(self, batch: Batch) -> str:
        """The progress in one line."""
        now, seen = self.last, self._outcomes
        parts = [f"{now.done}/{now.total}"]
        if counted := seen["pass"] + seen["fail"]:
            parts.append(f"{seen['pass'] / counted:.0%} pass so far")
        parts += [f"{seen['error']} errors"] if seen["error"] else []
        parts += self.pace(batch)
        parts.append(cost(now))
        return " · ".join([*parts, *self.waits(batch)])
