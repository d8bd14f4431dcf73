"""Grounds answers: if facts are missing, the answer is built only from verified facts (behaviour F5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

from react_run.engine.standing import Standing
from react_run.errors import ModelError
from react_run.hooks import late
from react_run.hookspecs import hookimpl
from react_run.messages import Message
from react_run.outcome import Disposition
from react_run.policies.last_answer import LastWords
from react_run.policies.order import Policy
from react_run.policies.safe import safe_handling
from react_run.results import ReActStep, RunResult, StopReason, Unresolved

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig
    from react_run.run import Run

BY_POLICY = frozenset(
    {
        StopReason.CLARIFICATION_REQUIRED,
        StopReason.TOOL_FAILURE,
        StopReason.TOOL_RETRY_EXHAUSTED,
        StopReason.MAX_ITERATIONS,
        StopReason.OUTPUT_LIMIT,
        StopReason.STUCK,
        StopReason.TIMEOUT,
        StopReason.COST_LIMIT,
        StopReason.TOKEN_LIMIT,
        StopReason.EMPTY_REPLY,
    }
)
"""Stop reasons without an answer of the model, unless it gave a last answer."""
FAILED_TOOL = frozenset({StopReason.TOOL_FAILURE, StopReason.TOOL_RETRY_EXHAUSTED, StopReason.CLARIFICATION_REQUIRED})
PROVIDER_FAILED = "The model's provider failed before there was an answer."
SOMETHING_FAILED = "Something other than the model and its tools failed before there was an answer."
NOTHING = "No result could be verified, and nothing is known to have failed."


def may_lack_facts(run: Run, result: RunResult) -> bool:
    """Whether a run ended with anything unresolved, or otherwise than with an answer."""
    return bool(result.unresolved) or result.stop_reason != StopReason.COMPLETED


class Grounding(Policy):
    """Replaces an unsupported claim, or a missing answer, with verified facts and a list of unresolved failures.

    The model's own answer stands if only opaque failures are unresolved. A replaced claim is kept in
    ``RunResult.unverified_answer``.
    """

    kind: ClassVar[str] = "grounding"
    inside: ClassVar[Mapping[str, str]] = {
        "failures": "calls are judged before the answer that depends on them",
    }

    @classmethod
    def for_agent(cls, config: ReActAgentConfig, plugins: Sequence[object]) -> Self | None:
        return cls() if safe_handling(config) else None

    @hookimpl
    @late(when=may_lack_facts, errors=Exception)
    async def react_run(self, run: Run, proceed: Callable[[], Awaitable[RunResult]]) -> RunResult:
        try:
            result = await proceed()
        except Exception as error:
            if run.outcome.steps and not run.outcome.answer:
                why = PROVIDER_FAILED if isinstance(error, ModelError) else SOMETHING_FAILED
                run.outcome.answer = grounded(run.outcome.steps, run.state(Standing).unresolved, why)
            raise
        reason = result.stop_reason
        claimed = said_by_the_model(result)
        missing = any(not failure.opaque for failure in result.unresolved)
        if claimed is None:
            if reason not in BY_POLICY:
                return result
        elif not missing:
            return result
        if reason == StopReason.COMPLETED:
            reason = StopReason.UNRESOLVED_TOOL_FAILURE
        partial = (
            claimed if claimed is not None else run.outcome.unverified_answer
        )  # the beginning of a truncated answer
        text = grounded(result.steps, result.unresolved, "" if reason in FAILED_TOOL or claimed else result.answer)
        run.note(self.guard, f"{reason}: {'the claim of the model is set aside' if claimed else 'no answer'}")
        await self._take_back(run)
        run.messages.append(Message(role="assistant", content=text))
        run.outcome.stop_reason, run.outcome.answer, run.outcome.unverified_answer, run.outcome.value = (
            reason,
            text,
            partial,
            None,
        )
        return replace(result, stop_reason=reason, answer=text, unverified_answer=partial, value=None, success=False)

    async def _take_back(self, run: Run) -> None:
        if is_answer(run.messages[-1]):
            run.messages.pop()  # only this run has seen it
        last = run.state(LastWords).iteration or (run.iterations[-1] if run.iterations else None)
        if last is not None:
            await last.withdraw()


def is_answer(message: Message) -> bool:
    """Whether ``message`` is a reply of the model without tool calls."""
    return message.role == "assistant" and not message.tool_requests


def said_by_the_model(result: RunResult) -> str | None:
    """The model's answer, if the run ended with one: the last message of the conversation."""
    if not result.answer.strip() or not result.messages or not is_answer(result.messages[-1]):
        return None
    if result.stop_reason == StopReason.COMPLETED:
        return result.answer
    return result.answer if result.stop_reason in BY_POLICY and result.messages[-1].said == result.answer else None


def grounded(steps: Iterable[ReActStep], unresolved: Iterable[Unresolved], why: str = "") -> str:
    """Build an answer from facts: first what is verified, then what is unresolved or needs the user.

    Args:
        steps: The steps of the run; their verified summaries are the facts.
        unresolved: The unresolved failures.
        why: Any other reason why there is no answer, such as a limit.
    """
    verified = dict.fromkeys(
        step.outcome.verified_summary for step in steps if step.outcome is not None and not step.failed
    )
    unresolved = list(unresolved)
    questions = [left.message for left in unresolved if left.disposition is Disposition.CLARIFICATION_REQUIRED]
    problems = [
        f"{left.tool}: {left.message}"
        for left in unresolved
        if left.disposition is not Disposition.CLARIFICATION_REQUIRED
    ]
    sections = [
        _section("Verified results:", filter(None, verified)),
        _section("Unresolved:", [*problems, *filter(None, [why])]),
        _section("Clarification needed:", questions),
    ]
    return "\n\n".join(filter(None, sections)) or NOTHING


def _section(title: str, lines: Iterable[str]) -> str:
    listed = [f"- {line}" for line in dict.fromkeys(lines)]
    return "\n".join([title, *listed]) if listed else ""
