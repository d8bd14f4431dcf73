"""Rounds that only ask for what was already answered: a nudge, then the end (behaviour S1)."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from react_run.hookspecs import hookimpl
from react_run.policies.order import Policy
from react_run.results import StopReason
from react_run.run import canonical

if TYPE_CHECKING:
    from react_run.run import Iteration, Run, ToolCall

NUDGE = (
    "[You are repeating yourself: these calls were answered before, and the results are the same. Change your "
    "approach: use other arguments or another tool, or answer with what you have. The run ends if you go on like this.]"
)
STUCK = "The same calls were repeated although their results did not change."


class Answers:
    """The latest result of each call of one run, and how many rounds in a row brought nothing new."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, Hashable], str] = {}
        self.rounds = 0

    def is_old(self, call: ToolCall) -> bool:
        """Whether ``call`` was answered before with the same result; remembers the result when not."""
        assert call.observation is not None  # a round is judged when all its calls are in
        same = call.key if call.problem is None else canonical(call.request.arguments)
        key = (call.request.name, same)
        before = self.known.get(key)
        if before is not None and not call.executed and call.problem is None:
            return True  # served from elsewhere
        self.known[key] = content = call.observation.content
        return before == content


class Stuck(Policy):
    """Ends a run that keeps asking for what it has been told.

    A repeatable tool whose results change is progress, and so is any new call in a round.
    """

    kind: ClassVar[str] = "stuck"
    guard: ClassVar[str] = "stuck"

    nudge_at: int = Field(default=2, ge=1)
    """The round in a row without anything new that is answered with a nudge."""
    stop_at: int = Field(default=3, ge=1)
    """The round in a row without anything new that ends the run."""

    @hookimpl
    def react_settle(self, run: Run, iteration: Iteration) -> None:
        answers = run.state(Answers)
        new = 0
        for call in iteration.calls:  # all of them: each is remembered
            new += not answers.is_old(call)
        answers.rounds = 0 if new else answers.rounds + 1
        if answers.rounds < self.nudge_at or run.stop_reason is not None:
            return
        if answers.rounds >= self.stop_at:
            run.note(self.guard, f"nothing new in {answers.rounds} rounds: stopped")
            run.stop(StopReason.STUCK, STUCK)
        else:
            run.note(self.guard, f"nothing new in {answers.rounds} rounds: nudged")
            iteration.calls[-1].append(NUDGE)
