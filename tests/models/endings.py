"""How a run of a case must have ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tests.models.case_results import Seen

from react_run import ModelError, RunResult


def completed(seen: Seen) -> None:
    assert (seen.result.stop_reason, bool(seen.result.answer)) == ("completed", True)


def executed(seen: Seen) -> None:
    completed(seen)
    assert seen.ran


def fed_back(seen: Seen) -> None:  # A5, A6
    completed(seen)
    assert seen.run.outcome.steps
    assert not seen.ran


def final(seen: Seen) -> None:
    completed(seen)
    assert seen.result.success


def answered(seen: Seen) -> None:  # F6
    completed(seen)
    assert not seen.result.success


def cut(seen: Seen) -> None:  # S5
    assert (seen.result.stop_reason, bool(seen.result.answer), seen.result.success) == ("output_limit", True, False)


def retried(seen: Seen) -> None:  # S3, S6
    final(seen)
    assert not seen.run.outcome.steps
    assert isinstance(seen.first, ModelError) or not seen.first.text.strip()


def refused(seen: Seen) -> None:  # S3
    assert (seen.result.stop_reason, seen.result.success, seen.run.outcome.steps) == ("refused", False, [])


def failed(seen: Seen) -> None:
    if isinstance(seen.outcome, ModelError):  # S6
        assert seen.outcome is seen.watching.replies[-1]
        assert seen.outcome.result is not None
        assert seen.outcome.result.stop_reason == "model_error"
    else:
        assert (seen.result.success, seen.result.stop_reason == "completed") == (False, False)


def interrupted(seen: Seen) -> None:  # T1
    assert not isinstance(seen.outcome, Exception | RunResult)


OUTCOMES: Mapping[str, Callable[[Seen], None]] = {
    "execute": executed,
    "feedback": fed_back,
    "final": final,
    "answered": answered,
    "cut": cut,
    "retry": retried,
    "refusal": refused,
    "error": failed,
    "interrupted": interrupted,
}


def outcome_is(seen: Seen, wanted: str) -> None:
    OUTCOMES[wanted](seen)


CONTINUATION = " 4."
"""What the provider of the tests adds to an answer that it had cut; it cuts that, too."""


def text_is(seen: Seen, wanted: str) -> None:
    """The text of the reply of a case; of whole conversations, of the last one."""
    if seen.case.mode == "sequence" or not seen.run.outcome.steps:
        assert seen.result.answer.removesuffix(CONTINUATION) == wanted
    else:
        assert wanted in seen.run.outcome.steps[0].thought  # beside what the model reasoned (L9)


def truncated(seen: Seen) -> None:  # S5
    assert seen.result.finish_reason == "length"
    assert seen.result.answer.endswith(CONTINUATION)


def flags_are(seen: Seen, wanted: Sequence[str]) -> None:
    for flag in wanted:
        FLAGS[flag](seen)


FLAGS = {"truncated": truncated}
