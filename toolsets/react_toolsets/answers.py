"""Results as compact JSON, refusals, and outcomes for error codes, shared by the deterministic toolsets."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from react_run import Disposition, Outcome

Fields = Mapping[str, object]


class Refusal(Exception):  # an answer for the model, not an error of the program
    """A tool cannot answer; the message tells the model how to correct its call.

    Args:
        code: A short stable name of the reason.
        message: What is wrong and what to write instead.
        details: Further fields of the error object, such as the possible choices.
    """

    def __init__(self, code: str, message: str, **details: object) -> None:
        super().__init__(message)
        self.code = code
        self.details = details


def answer(work: Callable[[], Fields]) -> str:
    """Run ``work``, and return its result as compact JSON, or the error object of its :class:`Refusal`."""
    try:
        result: Fields = {"status": "ok", **work()}
    except Refusal as refusal:
        error = {"code": refusal.code, "message": str(refusal), **refusal.details}
        result = {"status": "error", "error": error}
    text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    # Arguments are echoed, and may contain half of a surrogate pair, which cannot be encoded.
    return text.encode("utf-8", "replace").decode()


def interpret_answer(result: object, summary: Callable[[Fields], str], ask: frozenset[str]) -> Outcome | None:
    """The outcome of a result: codes in ``ask`` need the user, all other errors may be retried.

    Args:
        result: What the tool returned.
        summary: Summarises a successful result as one line.
        ask: The codes that only the user can resolve.
    """
    fields = _parsed(result)
    if fields.get("status") == "ok":
        return Outcome.success(summary(fields))
    match fields.get("error"):
        case {"code": str(code), "message": str(message)} if code in ask:
            return Outcome(disposition=Disposition.CLARIFICATION_REQUIRED, code=code, message=message)
        case {"code": str(code), "message": str(message)}:
            return Outcome.retryable(code, message)
    return None


def _parsed(result: object) -> Fields:
    if isinstance(result, str):
        try:
            result = json.loads(result)
        except ValueError:
            return {}
    return result if isinstance(result, Mapping) else {}
