"""The plugin ``error_hints``: failures told with what to do about them."""

from __future__ import annotations

import pytest
from tests.plugins.traces import failing

from react_plugins.error_hints import ErrorHints
from react_run import ClarificationNeeded, StopReason, ToolError
from react_run.testing import calls, run_agent, says

FLAKY = [calls(("flaky", {"x": 1})), says("done")]


@pytest.mark.parametrize(
    ("error", "hints", "added"),
    [
        (FileNotFoundError("a"), {"FileNotFoundError": "List first."}, "List first."),
        (FileNotFoundError("a"), {"OSError": "Something with files."}, "Something with files."),
        (FileNotFoundError("a"), {"OSError": "b", "FileNotFoundError": "a"}, "a"),
        (FileNotFoundError("a"), {"builtins.*": "Built in."}, "Built in."),
        (ValueError("x is 5"), {"ValueError": "{tool} said: {error}"}, "flaky said: ValueError: x is 5"),
        (KeyError("a"), {"ValueError": "no"}, None),
        (ToolError("busy"), {"ToolError": "Wait."}, "Wait."),
    ],
)
def test_an_exception_gets_the_hint_of_its_nearest_class(
    error: Exception, hints: dict[str, str], added: str | None
) -> None:
    flaky, _ = failing(error)
    result = run_agent(FLAKY, tools=[flaky], plugins=[ErrorHints(hints=hints)])
    (step,) = result.steps
    assert step.failed
    text = f"\n\nHint: {added}"
    assert step.observation.endswith(text) if added else "Hint" not in step.observation


def test_failures_without_an_exception_get_a_hint_by_code() -> None:
    flaky, _ = failing()
    plugin = ErrorHints(codes={"invalid_*": "x is a whole number."})
    result = run_agent([calls(("flaky", {"x": "many"})), says("done")], tools=[flaky], plugins=[plugin])
    assert result.steps[0].observation.endswith("Hint: x is a whole number.")


def test_a_hint_is_part_of_what_a_grounded_ending_says() -> None:
    flaky, _ = failing(ClarificationNeeded("Which x?"))
    result = run_agent(FLAKY, tools=[flaky], plugins=[ErrorHints(codes={"clarification_*": "1 or 2."})])
    assert result.stop_reason == StopReason.CLARIFICATION_REQUIRED
    assert "Which x?\n1 or 2." in result.answer


def test_a_success_is_left_alone() -> None:
    flaky, _ = failing()
    result = run_agent(FLAKY, tools=[flaky], plugins=[ErrorHints(hints={"*": "no"}, codes={"*": "no"})])
    assert result.steps[0].observation == "fine"
