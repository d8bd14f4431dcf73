"""Handles tool failures: one correction, then the run ends with what is known (behaviours F1 to F3)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field

from react_run.hookspecs import hookimpl
from react_run.outcome import Disposition, Outcome
from react_run.policies.order import Policy
from react_run.policies.safe import safe_handling
from react_run.results import StopReason
from react_run.tools.arguments.key import arguments_key

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig
    from react_run.run import Iteration, Run, ToolCall

Key = tuple[str, Hashable]
NOT_THE_TOOLS = frozenset({"cut_off", "cancelled"})
"""Error codes that say nothing about the tool: the reply was cut, or the run was interrupted."""
NO_SUCH_TOOL = frozenset({"unknown_tool", "tool_not_disclosed"})
"""Error codes that other arguments cannot correct."""


class Ledger:
    """The failures of a run by tool, since the tool last succeeded."""

    __slots__ = ("counts",)

    def __init__(self) -> None:
        self.counts: dict[str, dict[Key, int]] = {}

    def add(self, tool: str, key: Key) -> int:
        """Count a failure, and return how many of its kind there are now."""
        counts = self.counts.setdefault(tool, {})
        counts[key] = count = counts.get(key, 0) + 1
        return count

    def clear(self, tool: str) -> None:
        """Reset after a success of ``tool``: the next failure may be corrected again."""
        self.counts.pop(tool, None)


class Failures(Policy):
    """Lets the model correct the first failure of a kind; the next one ends the run.

    Failures are of the same kind if tool and code are the same. If the tool's results are opaque, or the failure is one
    of the particular call, the arguments must be the same as well.
    """

    kind: ClassVar[str] = "failures"
    inside: ClassVar[Mapping[str, str]] = {
        "duplicate_calls": "a repeated call has its answer before failures are counted",
    }

    corrections: int = Field(default=1, ge=0)
    """How many failures of one kind the model may correct."""
    searches: int = Field(default=1, ge=0)
    """How often a tool that found nothing may be called again with materially different arguments."""

    @classmethod
    def for_agent(cls, config: ReActAgentConfig, plugins: Sequence[object]) -> Self | None:
        safe = safe_handling(config)
        return None if safe is None else cls(corrections=safe.corrections)

    @hookimpl
    def react_settle(self, run: Run, iteration: Iteration) -> None:
        ledger = run.state(Ledger)
        counted: set[Key] = set()
        if ledger.counts:
            for call in iteration.calls:
                if call.succeeded:
                    ledger.clear(call.name)
        for call in iteration.calls:  # after all successes, because the order within a reply does not matter (F1b)
            outcome = call.result.outcome
            if outcome is not None and outcome.disposition.failed and outcome.code not in NOT_THE_TOOLS:
                self._judge(run, ledger, call, outcome, counted)

    def _judge(self, run: Run, ledger: Ledger, call: ToolCall, outcome: Outcome, counted: set[Key]) -> None:
        if outcome.disposition is Disposition.CLARIFICATION_REQUIRED:
            return self._end(run, StopReason.CLARIFICATION_REQUIRED, call, outcome)
        if outcome.disposition is Disposition.TERMINAL_ERROR:
            return self._end(run, StopReason.TOOL_FAILURE, call, outcome)
        key = key_of(call, outcome)
        if key in counted:
            return None
        counted.add(key)
        allowed = self.searches if outcome.disposition is Disposition.NO_RESULT else self.corrections
        if ledger.add(call.name, key) > allowed:
            return self._end(run, StopReason.TOOL_RETRY_EXHAUSTED, call, outcome)
        return None

    def _end(self, run: Run, reason: StopReason, call: ToolCall, outcome: Outcome) -> None:
        if run.outcome.stop_reason is None:
            run.note(self.guard, f"{reason}: {call.name}: {outcome.code or outcome.disposition}")
        run.stop(reason, outcome.message)


def key_of(call: ToolCall, outcome: Outcome) -> Key:
    """The key that failures of the same kind share (F1, F3)."""
    if outcome.disposition is Disposition.NO_RESULT:
        return call.name, Disposition.NO_RESULT
    if (call.opaque or outcome.of_call) and outcome.code not in NO_SUCH_TOOL:
        return call.name, call.key if call.problem is None else arguments_key(call.request.arguments)
    return call.name, outcome.code
