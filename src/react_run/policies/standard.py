"""The policies of an agent and their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from react_run.policies.acceptance import Acceptance
from react_run.policies.budget_warnings import BudgetWarnings
from react_run.policies.compaction import Compaction
from react_run.policies.limits import RunLimits, RunTimeout
from react_run.policies.model_retries import ModelRetries
from react_run.policies.order import Policy, order_policies
from react_run.policies.result_limit import Ceiling
from react_run.policies.safe import failure_policies
from react_run.policies.truncated_calls import CutOff

if TYPE_CHECKING:
    from react_run.config import Limits, ReActAgentConfig
    from react_run.run import ReActAgent


def standard_policies(agent: ReActAgent, plugins: Sequence[object], disclosure: Sequence[object]) -> list[object]:
    """All policies of ``agent``, outermost first: those of every agent, ``failure_handling``, ``tool_disclosure``."""
    config = agent.config
    guards, own = failure_policies(config.failure_handling)
    guards += [
        *_limits(config.limits),
        Ceiling(max_bytes=config.limits.max_result_bytes, spill=config.limits.spill),
        CutOff(),
        Compaction(),
        ModelRetries(),
    ]
    if config.checks or any(hasattr(plugin, "react_check_answer") for plugin in plugins):
        guards.append(Acceptance(checks=config.checks, iterations=config.limits.max_check_attempts))
    if _is_limited(config) and config.failure_handling != "legacy":
        guards.append(BudgetWarnings())
    return [*own, *disclosure, *order_policies(guards, plugins)]


def _is_limited(config: ReActAgentConfig) -> bool:
    """Whether a limit is set that the model can be warned about."""
    limits = config.limits
    chosen = (limits.max_cost, limits.max_total_tokens, limits.run_timeout)
    return "max_iterations" in config.model_fields_set or any(limit is not None for limit in chosen)


def _limits(limits: Limits) -> list[Policy]:
    """The policies for the limits that are set."""
    policies: list[Policy] = []
    if limits.run_timeout is not None:
        policies.append(RunTimeout(seconds=limits.run_timeout, on_limit=limits.on_limit))
    if limits.max_cost is not None or limits.max_total_tokens is not None:
        policies.append(
            RunLimits(
                max_cost=limits.max_cost,
                allow_unknown_cost=limits.allow_unknown_cost,
                max_total_tokens=limits.max_total_tokens,
                on_limit=limits.on_limit,
            )
        )
    if limits.on_limit == "ask":
        from react_run.policies.extensions import MoreIterations

        policies.append(MoreIterations())
    return policies
