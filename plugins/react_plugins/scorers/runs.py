"""The scorers ``success``, ``stop_reason`` and the limits ``max_cost``, ``max_seconds``, ``max_iterations``."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from react_run import Score, ScoredRun, Scorer


class Success(Scorer):
    """The run must be a success, or must not."""

    kind: ClassVar[str] = "success"

    success: bool = True
    """Whether the run must be a success."""

    async def score(self, run: ScoredRun) -> Score:
        result = run.result
        reason = f"success: expected {self.success}, got {result.success} ({result.stop_reason})"
        return Score(value=float(result.success is self.success), reason=reason)


class StopReason(Scorer):
    """The run must end for this reason."""

    kind: ClassVar[str] = "stop_reason"

    reason: str
    """The reason, such as `completed` or `max_iterations`."""

    async def score(self, run: ScoredRun) -> Score:
        found = str(run.result.stop_reason)
        return Score(value=float(found == self.reason), reason=f"stop_reason: expected {self.reason}, got {found}")


class MaxIterations(Scorer):
    """The run must not take more iterations than this."""

    kind: ClassVar[str] = "max_iterations"

    most: int = Field(ge=0)
    """The maximum number."""

    async def score(self, run: ScoredRun) -> Score:
        taken = run.result.iterations
        reason = f"max_iterations: expected at most {self.most}, got {taken}"
        return Score(value=float(taken <= self.most), reason=reason)


class MaxCost(Scorer):
    """The run must not cost more than this; a run whose cost is unknown cannot be scored."""

    kind: ClassVar[str] = "max_cost"

    most: float = Field(ge=0)
    """The maximum cost in USD."""

    async def score(self, run: ScoredRun) -> Score:
        cost = run.result.usage.cost
        if cost is None:
            raise ValueError("what the run cost is unknown: the prices of its model are not known")
        return Score(value=float(cost <= self.most), reason=f"max_cost: expected at most ${self.most:g}, got ${cost:g}")


class MaxSeconds(Scorer):
    """The run must not take longer than this."""

    kind: ClassVar[str] = "max_seconds"

    most: float = Field(ge=0)
    """The maximum duration in seconds."""

    async def score(self, run: ScoredRun) -> Score:
        taken = run.seconds if run.journal is None else run.journal.stats.seconds
        reason = f"max_seconds: expected at most {self.most:g}, got {taken:.2f}"
        return Score(value=float(taken <= self.most), reason=reason)
