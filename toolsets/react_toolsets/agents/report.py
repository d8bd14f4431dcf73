"""The report that a parent reads about a subagent's work, of bounded length (behaviour X1)."""

from __future__ import annotations

import json

from react_run import Observation, Outcome, RunResult, StopReason

SUMMARY = 300
"""The most characters of a quoted fact or reason."""


def report(name: str, result: RunResult, longest: int) -> Observation:
    """The report on a run of the agent ``name``; its answer is cut after ``longest`` characters, with a note."""
    data: dict[str, object] = {
        "agent": name,
        "status": "ok" if result.success else "failed",
        "success": result.success,
        "answer": _cut(result.answer, longest),
        "iterations": result.iterations,
    }
    if result.unresolved:
        data["unresolved"] = [_cut(f"{failure.tool}: {failure.message}", 500) for failure in result.unresolved[:5]]
    if result.success:
        return _observed(data, Outcome.success(verified(name, result)))
    data["reason"] = str(result.stop_reason)
    return _observed(data, failed(name, result))


def verified(name: str, result: RunResult) -> str:
    """The facts that the subagent's own tools verified, as opposed to its claims; empty if there are none."""
    outcomes = [step.outcome for step in result.steps if step.outcome is not None and not step.failed]
    facts = "; ".join(dict.fromkeys(outcome.verified_summary for outcome in outcomes if outcome.verified_summary))
    text = f"{name} verified: {facts}" if facts else ""
    return text if len(text) <= SUMMARY else f"{text[: SUMMARY - 1]}…"


def failed(name: str, result: RunResult) -> Outcome:
    """The outcome of an unsuccessful run for the parent.

    It becomes part of answers built from facts; claims of the subagent despite failed tools do not.
    """
    claims = result.stop_reason == StopReason.COMPLETED
    code = "no_answer" if claims else str(result.stop_reason)
    text = f"{name} did not get it done ({code})"
    why = "; ".join(f"{one.tool}: {one.message}" for one in result.unresolved) if claims else result.answer.strip()
    return Outcome.retryable(code, f"{text}: {_cut(why, SUMMARY)}" if why else text, of_call=True)


def broken(name: str, code: str, why: str) -> Observation:
    """The report on a run without a result."""
    outcome = Outcome.retryable(code, f"{name} came to no result: {_cut(why, SUMMARY)}", of_call=True)
    return _observed({"agent": name, "status": "failed", "reason": code, "error": _cut(why, 1000)}, outcome)


def _observed(data: dict[str, object], outcome: Outcome) -> Observation:
    return Observation(content=json.dumps(data, ensure_ascii=False), outcome=outcome, raw=data)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… [{len(text) - longest:,} more characters]"
