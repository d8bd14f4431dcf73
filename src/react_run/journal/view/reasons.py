"""Why runs end, in words."""

from __future__ import annotations

from react_run.results import StopReason

WHY: dict[str, str] = {
    StopReason.MAX_ITERATIONS: "the iteration limit was reached (--max-iterations)",
    StopReason.OUTPUT_LIMIT: "the replies were cut off three times (max_tokens)",
    StopReason.STUCK: "it went in circles",
    StopReason.TIMEOUT: "the time was up (--timeout)",
    StopReason.COST_LIMIT: "the cost limit was reached (--max-cost)",
    StopReason.TOKEN_LIMIT: "the token limit was reached (max_total_tokens)",
    StopReason.CLARIFICATION_REQUIRED: "it needs an answer from you",
    StopReason.TOOL_FAILURE: "a tool failed permanently",
    StopReason.TOOL_RETRY_EXHAUSTED: "a tool failed again after its correction",
    StopReason.UNRESOLVED_TOOL_FAILURE: "a tool failure was left unresolved",
    StopReason.UNACCEPTED: "the checks did not accept the answer",
    StopReason.REFUSED: "the model refused",
    StopReason.EMPTY_REPLY: "the model gave no answer",
    StopReason.CANCELLED: "it was cancelled",
}


def in_words(status: str) -> tuple[str, str]:
    """How a run ended: in words, and the code for them; without words, the status itself and an empty string."""
    return (WHY[status], status) if status in WHY else (status, "")


def code_in(detail: str) -> str:
    """The code that ``spoken`` puts into words; empty if there is none."""
    code = detail.partition(": ")[0]
    return code if code in WHY else ""


def spoken(detail: str) -> str:
    """The detail of a guard, with the reason for which it ended a run in words."""
    code = code_in(detail)
    return WHY[code] + detail.removeprefix(code) if code else detail
