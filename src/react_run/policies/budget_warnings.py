"""Warns the model before a configured limit is reached (behaviours S2, S4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field

from react_run.engine.state import EngineState
from react_run.hookspecs import hookimpl
from react_run.policies.deadline import Deadline
from react_run.policies.order import Policy

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig
    from react_run.run import Iteration, Run

WARNING = "[{share:.0%} of {what}. {advice}]"
FEWEST = 8
"""Runs with fewer iterations are too short for warnings to help."""
TOLERANCE = 1e-9
"""Tolerance, because sums of prices are not exact."""
HALF = "Plan for what is left."
NEARLY = "Finish what matters most, and answer."


class Told:
    """The shares that a run was warned about, by budget."""

    def __init__(self) -> None:
        self.shares: dict[str, float] = {}


class BudgetWarnings(Policy):
    """Tells the model when half, and when four fifths, of a budget are used, after the last result.

    It covers the limits that are set: iterations, tokens, cost and time. The elapsed time is recorded, so that a replay
    gives the same warnings. ``failure_handling: legacy`` turns the warnings off.
    """

    kind: ClassVar[str] = "budget_warnings"
    inside: ClassVar[Mapping[str, str]] = {
        "result_limit": "the warning is added after the result is cut",
        "stuck": "a run that ends now needs no warning",
    }

    at: list[float] = Field(default_factory=lambda: [0.5, 0.8])
    """The shares of a budget, from 0 to 1, at which the model is warned."""

    @classmethod
    def for_agent(cls, config: ReActAgentConfig, plugins: Sequence[object]) -> Self | None:
        return cls() if is_limited(config) and config.failure_handling != "legacy" else None

    @hookimpl
    async def react_settle(self, run: Run, iteration: Iteration) -> None:
        if run.outcome.stop_reason is not None:
            return
        told = run.state(Told).shares
        used = list(budgets(run))
        if run.agent.config.limits.run_timeout and told.get("time", 0.0) < max(self.at, default=0.0):
            used.append(await self._time(run))
        for name, share, what in used:
            reached = max((mark for mark in self.at if mark - TOLERANCE <= share < 1), default=0.0)
            if reached > told.get(name, 0.0):
                told[name] = reached
                run.note(self.guard, f"{share:.0%} of {what}")
                advice = NEARLY if reached >= max(self.at) else HALF
                iteration.calls[-1].append(WARNING.format(share=share, what=what, advice=advice))

    async def _time(self, run: Run) -> tuple[str, float, str]:
        """The share of the time used, by the clock or from a recording."""

        async def look() -> float:
            share = run.state(Deadline).share
            return max((mark for mark in self.at if mark <= share), default=0.0) and round(share, 2)

        share = await run.recorded(f"budget_warnings:time:{len(run.iterations)}", look)
        return "time", share, f"the {run.agent.config.limits.run_timeout:g} seconds are used"


def is_limited(config: ReActAgentConfig) -> bool:
    """Whether a limit is set that the model can be warned about."""
    limits = config.limits
    chosen = (limits.max_cost, limits.max_total_tokens, limits.run_timeout)
    return "max_iterations" in config.model_fields_set or any(limit is not None for limit in chosen)


def budgets(run: Run) -> Iterator[tuple[str, float, str]]:
    """The configured budgets of a run: a name, the share used, and a description."""
    config, limits, used = run.agent.config, run.agent.config.limits, run.state(EngineState).counted
    if "max_iterations" in config.model_fields_set and run.max_iterations >= FEWEST:
        share = len(run.iterations) / run.max_iterations
        yield "iterations", share, f"the {run.max_iterations} iterations are used"
    if limits.max_total_tokens and used.total_tokens:
        yield "tokens", used.total_tokens / limits.max_total_tokens, f"the {limits.max_total_tokens:,} tokens are used"
    if limits.max_cost and used.cost:
        yield "cost", used.cost / limits.max_cost, f"the {limits.max_cost:g} USD are spent"
