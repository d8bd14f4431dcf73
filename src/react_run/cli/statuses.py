"""Maps the end of a run to an exit status and a message for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from react_run.journal.view.reasons import WHY
from react_run.results import LIMIT_REASONS, RunResult, StopReason
from react_run.support.display import usd
from react_run.support.text import printable

if TYPE_CHECKING:
    from react_run.messages import Usage

ANSWERED, NO_ANSWER, WRONG_USE, PROVIDER_FAILED, NEEDS_USER, LIMIT, DIFFERS = range(7)


def status_of(result: RunResult) -> int:
    """The exit status of a run that ended with a result; docs/cli.md lists them."""
    if result.success:
        return ANSWERED
    if result.stop_reason == StopReason.CLARIFICATION_REQUIRED:
        return NEEDS_USER
    if result.stop_reason == StopReason.MODEL_ERROR:
        return PROVIDER_FAILED
    return LIMIT if result.stop_reason in LIMIT_REASONS else NO_ANSWER


def why(result: RunResult) -> str:
    """Why a run was not a success, as text that is safe for a terminal; empty if it was one."""
    return "" if result.success else printable(_why(result))


def _why(result: RunResult) -> str:
    if result.stop_reason == StopReason.COMPLETED:
        failed = ", ".join(failure.tool for failure in result.unresolved)
        return f"not a success: {f'{failed} failed, and it was never resolved' if failed else 'the answer is empty'}"
    if result.stop_reason == StopReason.UNACCEPTED:
        return f"stopped: {WHY[StopReason.UNACCEPTED]}{_objection(result)}"
    return (
        f"stopped: {WHY.get(StopReason(result.stop_reason), '')}"
        if _known(result)
        else f"stopped: {result.stop_reason}"
    )


def _objection(result: RunResult) -> str:
    """The objection to the answer: the last message of the conversation."""
    from react_run.support.text import printable

    last = result.messages[-1] if result.messages else None
    return f": {printable(last.text)}" if last is not None and last.role == "user" else ""


def _known(result: RunResult) -> bool:
    return result.stop_reason in set(WHY)


def footer(usage: Usage, tool_calls: int, seconds: float, run_id: str, *, below: tuple[int, int] = (0, 0)) -> str:
    """Model calls, tool calls, tokens, cost, seconds and run id, in one line.

    Args:
        usage: What the run used, subagents included.
        tool_calls: The tool calls, those of subagents included.
        seconds: How long it took.
        run_id: The id of the run.
        below: How many of the model calls and tool calls subagents made.
    """
    end = [f"{seconds:.1f} s", f"run {run_id[:12]}"]
    if not usage.requests and not tool_calls:  # a key was missing, for example
        return " · ".join(["no model was called", *end])
    return " · ".join([*spent(usage, tool_calls, below), *end])


def spent(usage: Usage, tool_calls: int, below: tuple[int, int] = (0, 0)) -> list[str]:
    """Model calls, tool calls, tokens and cost, each as text; the arguments are those of :func:`footer`."""
    tokens = usage.total_tokens
    by_models, by_tools = (f" ({number} by subagents)" if number else "" for number in below)
    return [
        f"{_plural(usage.requests, 'model call')}{by_models}",
        f"{_plural(tool_calls, 'tool call')}{by_tools}",
        "tokens n/a" if tokens is None else f"{tokens:,} tokens",
        "cost n/a" if usage.cost is None else usd(usage.cost),
    ]


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
