"""Builds the result of a run, finished or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from react_run.engine.standing import Standing
from react_run.engine.state import EngineState
from react_run.results import LIMIT_REASONS, RunResult, StopReason
from react_run.support.maker import maker

if TYPE_CHECKING:
    from react_run.run import Run


_result = maker(RunResult)


def result_of(run: Run) -> RunResult:
    """The result of ``run`` so far."""
    outcome, standing = run.outcome, run.state(Standing)
    reason = outcome.stop_reason or StopReason.CANCELLED
    return _result(
        answer=outcome.answer,
        stop_reason=reason,
        finish_reason="length" if reason in LIMIT_REASONS else "stop",
        success=reason == StopReason.COMPLETED and bool(outcome.answer.strip()) and standing.sound,
        iterations=len(run.iterations),
        steps=outcome.steps,
        messages=run.messages,
        usage=run.usage,
        unresolved=standing.unresolved,
        unverified_answer=outcome.unverified_answer,
        disclosure=outcome.disclosure,
        value=outcome.value,
        run_id=run.id,
        model=run.state(EngineState).model_name,
        emitted=outcome.emitted,
        plan=outcome.plan,
    )
