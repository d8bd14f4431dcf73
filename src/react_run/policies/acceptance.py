"""Whether an answer is accepted, and how often it may be refused (behaviour G3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from react_run.checks import Check
from react_run.hookspecs import hookimpl
from react_run.outcome import Verdict
from react_run.policies.slots import Policy
from react_run.results import StopReason

if TYPE_CHECKING:
    from react_run.run import Iteration, Run


class Acceptance(Policy):
    """Asks the checks of an agent about each proposed answer, and ends a run whose answers are refused too often."""

    kind: ClassVar[str] = "acceptance"
    guard: ClassVar[str] = "acceptance"

    checks: list[Check] = Field(default_factory=list)
    """What an answer must pass, in order."""
    rounds: int = Field(default=2, ge=0)
    """How often an answer may be refused, by these checks or by plugins, before it is kept as unaccepted."""

    @hookimpl
    async def react_check_answer(self, run: Run, answer: str) -> Verdict | None:
        verdicts = [await check.check(run, answer) for check in self.checks]
        refusals = [verdict.feedback for verdict in verdicts if not verdict.accepted]
        return Verdict(accepted=False, feedback="\n\n".join(refusals)) if refusals else None

    @hookimpl
    def react_iteration_finished(self, run: Run, iteration: Iteration) -> None:
        if iteration.feedback is None or iteration.response is None or run.stop_reason is not None:
            return
        refused = sum(earlier.feedback is not None for earlier in run.iterations)
        run.note(self.guard, f"answer refused for the {refused}. time: {iteration.feedback}")
        if refused > self.rounds:
            run.stop(StopReason.UNACCEPTED, iteration.response.text)
