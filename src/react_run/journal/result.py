"""Rebuilds the result of a finished run from its journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from react_run.errors import JournalError
from react_run.journal.iterations import Iteration, ToolUse
from react_run.journal.reading import Journal
from react_run.journal.values import outcome_from_data, usage_from_data
from react_run.outcome import Disposition
from react_run.results import ReActStep, RunResult, Unresolved


def result_of(journal: Journal) -> RunResult:
    """The result of a finished run.

    Secrets are masked, as in the journal. Values sent by plugins (``emitted``) are JSON values, and calls that did not
    run have their arguments as the model sent them.

    Raises:
        JournalError: The run has not ended, or its journal is damaged.
    """
    footer = journal.footer
    if footer is None or footer["status"] != "finished":
        raise JournalError(f"run {journal.run_id[:12]} has not ended, so it has no result yet")
    steps = list(_steps(journal))
    responses = [call.response for call in journal.calls.values() if call.response]
    return RunResult(
        answer=footer["answer"],
        stop_reason=footer["stop_reason"],
        finish_reason=footer["finish_reason"],
        success=footer["success"],
        iterations=footer["iterations"],
        steps=steps,
        messages=list(journal.messages),
        usage=usage_from_data(footer["usage"]),
        unresolved=[
            Unresolved(**{**left, "disposition": Disposition(left["disposition"])}) for left in footer["unresolved"]
        ],
        unverified_answer=footer["unverified_answer"],
        disclosure=footer["disclosure"],
        value=footer["value"],
        emitted=footer.get("emitted", ()),
        plan=footer.get("plan", ()),
        run_id=journal.run_id,
        model=responses[-1]["model"] if responses else journal.header["model"],
    )


def _steps(journal: Journal) -> Iterator[ReActStep]:
    attempts: Counter[str] = Counter()
    for iteration in journal.iterations:
        for use in iteration.tools:
            if use.content is None:
                continue
            attempt = attempts[use.name] + 1
            attempts[use.name] = attempt if use.failed else 0
            yield _step(iteration, use, attempt)


def _step(iteration: Iteration, use: ToolUse, attempt: int) -> ReActStep:
    reply = iteration.model_calls[-1].reply if iteration.model_calls else None
    finished = next((attempt.finished for attempt in reversed(use.attempts) if attempt.finished), None)
    known = use.judged or use.answered or finished or {}
    return ReActStep(
        thought="" if reply is None else reply.thought,
        action=use.name,
        action_input=use.arguments,  # type: ignore[arg-type]  # a mapping or text, as it was recorded
        observation=use.content or "",
        outcome=outcome_from_data(use.outcome),
        attempt=attempt,
        executed=bool(known.get("executed", use.executed)),
        iteration=use.iteration,
        seconds=use.seconds or 0.0,
        opaque=bool((finished or {}).get("opaque", True)),
        repaired=tuple(next(use.results).get("repaired", ())),
        id=use.id,
        started=use.span[0] if use.span is not None else 0.0,
    )
